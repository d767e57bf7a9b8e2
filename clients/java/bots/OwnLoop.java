public final class OwnLoop {
    public static void main(String[] arguments) throws Modiar.ModiarException {
        Modiar.Settings settings = new Modiar.Settings().ended(ended -> System.out.println(ended.game() + " " + ended.result()));
        try (Modiar.Client client = Modiar.connect(settings)) {
            for (Modiar.Turn turn : client.turns("practice", 2)) {
                turn.play(turn.position().greedy());
            }
        }
    }
}
