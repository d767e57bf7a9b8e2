import java.util.LinkedHashMap;
import java.util.Map;

/** The options of a bot: {@code --games N} and {@code --pool P}, which all have, and at most one of its own. */
final class Options {
    private final Map<String, String> given = new LinkedHashMap<>();
    private final String usage;

    /** {@code own} is how the bot's own option is written, {@code --seed N} say, or empty. What is wrong ends the program. */
    Options(String[] arguments, String own) {
        usage = "options: --games N (0 to " + Modiar.MOST_GAMES + ", 0: until stopped; default 1), --pool P (default practice)"
            + (own.isEmpty() ? "" : ", " + own);
        for (int i = 0; i < arguments.length; i += 2) {
            if (arguments[i].equals("--help")) {
                System.out.println(usage);
                System.exit(Modiar.DONE);
            }
            boolean known = arguments[i].equals("--games") || arguments[i].equals("--pool") || own.startsWith(arguments[i] + " ");
            if (!known || i + 1 == arguments.length) {
                fail(arguments[i] + (known ? " lacks its value" : " is no option"));
            }
            given.put(arguments[i], arguments[i + 1]);
        }
    }

    String pool() {
        return given.getOrDefault("--pool", "practice");
    }

    int games() {
        return (int) number("--games", 0, Modiar.MOST_GAMES, 1);
    }

    /** The number of an option, or {@code otherwise} where it is not given. */
    long number(String option, long least, long most, long otherwise) {
        String text = given.get(option);
        if (text == null) {
            return otherwise;
        }
        try {
            long number = Long.parseLong(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException error) {
            // It is told below, as one out of range is.
        }
        return fail(option + " is '" + text + "': write a whole number from " + least + " to " + most);
    }

    private long fail(String what) {
        System.err.println(what + "; " + usage);
        System.exit(Modiar.USAGE);
        return 0;
    }
}
