/** Plays the legal pit that captures most on this ply; of equal ones the lowest. */
public final class GreedyBot {
    public static void main(String[] arguments) {
        Options options = new Options(arguments, "");
        System.exit(Modiar.run(turn -> turn.position().greedy(), options.pool(), options.games()));
    }
}
