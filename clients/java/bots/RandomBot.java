import java.util.Random;

/** Plays any legal pit, each as likely as the other; the same {@code --seed} makes the same choices. */
public final class RandomBot {
    public static void main(String[] arguments) {
        Options options = new Options(arguments, "--seed N");
        Random random = new Random(options.number("--seed", 0, Long.MAX_VALUE, System.nanoTime()));
        System.exit(Modiar.run(turn -> turn.legal().get(random.nextInt(turn.legal().size())), options.pool(), options.games()));
    }
}
