/** Looks {@code --depth} plies ahead and plays the legal pit of the highest worth; of equal ones the lowest. */
public final class MinimaxBot {
    public static void main(String[] arguments) {
        Options options = new Options(arguments, "--depth N (1 to 20; default 6)");
        int depth = (int) options.number("--depth", 1, 20, 6);
        System.exit(Modiar.run(turn -> turn.position().minimax(depth), options.pool(), options.games()));
    }
}
