public final class FirstBot {
    public static void main(String[] arguments) {
        System.exit(Modiar.run(turn -> turn.legal().get(0), "practice", 1));
    }
}
