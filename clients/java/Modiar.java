import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Proxy;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/**
 * Connects a bot to a Modiar server: the whole library, for Java 17 and nothing else.
 *
 * <p>There are three levels. {@link #run(Bot, String, int)} is a whole program around one method, {@link Bot#choose}.
 * {@link #connect} gives a {@link Client}, whose {@link Client#turns} is a loop of your own. {@link Decoder} and
 * {@link #encode} are the lines of the protocol, without a connection. {@link Position} knows the rules and needs none of them.
 *
 * <p>Pits are absolute, in sowing order: 0 1 2 are South's and 3 4 5 are North's, and after 5 comes 0.
 *
 * <p>The sections, in this order: a program, settings, what a bot sees, the rules, what goes wrong, the messages, their lines,
 * JSON, the client, its connection.
 */
public final class Modiar {
    /** Every game was played. */
    public static final int DONE = 0;
    /** A setting or an option is wrong. */
    public static final int USAGE = 2;
    /** The server could not be reached, refused the bot, or hung up for good. */
    public static final int COULD_NOT = 3;
    /** Ctrl-C. */
    public static final int INTERRUPTED = 130;

    /** The version of the protocol that is spoken here. */
    public static final int PROTOCOL = 1;
    /** The most bytes of a line from the server, its end included. */
    public static final int LINE_BYTES = 16384;
    /** The most games that can be asked for. */
    public static final int MOST_GAMES = 1_000_000;

    private static final String CLIENT = "modiar-java/0.1.0";
    private static final Logger LOG = System.getLogger("modiar");

    private Modiar() {}

    // ---- A program ----------------------------------------------------------------------------------------------------------

    /** A bot is one method. */
    @FunctionalInterface
    public interface Bot {
        /**
         * Says what to play. Whatever it throws costs the game, which is resigned, and not the program.
         *
         * @param turn what is to be decided
         * @return one of {@code turn.legal()}
         * @throws Exception whatever goes wrong in it
         */
        int choose(Turn turn) throws Exception;
    }

    /**
     * A whole program, with the settings of the environment: {@link #run(Bot, String, int, Settings)}.
     *
     * @param bot what decides
     * @param pool the pool to play in
     * @param games how many to play, 0 to 1,000,000; 0: until stopped
     * @return the exit status
     */
    public static int run(Bot bot, String pool, int games) {
        return run(bot, pool, games, new Settings());
    }

    /**
     * A whole program: connects, plays, prints a line for each game on stdout and all else on stderr. Ctrl-C resigns and ends it.
     *
     * @param bot what decides
     * @param pool the pool to play in
     * @param games how many to play, 0 to 1,000,000; 0: until stopped
     * @param settings the server, who plays, and how
     * @return the exit status: {@link #DONE}, {@link #USAGE}, {@link #COULD_NOT} or {@link #INTERRUPTED}
     */
    public static int run(Bot bot, String pool, int games, Settings settings) {
        plainNotes();
        Settings told = settings.copy().ended(settings.ended.andThen(Modiar::tell));
        AtomicReference<Client> running = new AtomicReference<>();
        onInterrupt(() -> {
            if (running.get() != null) {
                running.get().leave();
            }
        });
        try (Client client = new Client(told)) {
            running.set(client);
            client.open();
            client.seek(pool, games);
            for (Turn turn = client.next(); turn != null; turn = client.next()) {
                if (!answered(bot, turn) && settings.strict) {
                    return COULD_NOT;
                }
            }
            return client.status();
        } catch (SettingError error) {
            LOG.log(Level.ERROR, error.getMessage());
            return USAGE;
        } catch (ModiarException error) {
            LOG.log(Level.ERROR, error.getMessage());
            return COULD_NOT;
        }
    }

    /** Plays what the bot chooses; where it throws, tells so, resigns, and answers false. */
    private static boolean answered(Bot bot, Turn turn) {
        try {
            turn.play(bot.choose(turn));
            return true;
        } catch (Throwable thrown) { // errors too: a bot that recurses too deep has lost this game, not the next
            System.err.println("choose failed in game " + turn.game() + " at ply " + turn.ply() + ", position "
                + turn.position().text());
            thrown.printStackTrace();
            turn.resign();
            return false;
        }
    }

    /** A line on stdout for a game that has ended: {@code <game> <result> <termination> <own side> <south>-<north>}. */
    private static void tell(Ended ended) {
        String side = ended.side().map(Side::text).orElse("unknown");
        System.out.println(String.join(" ", ended.game(), ended.result(), ended.termination(), side,
            ended.score().south() + "-" + ended.score().north()));
        System.out.flush();
        ended.detail().ifPresent(detail -> LOG.log(Level.INFO,
            "pit " + detail.pit() + " breaks " + detail.clause() + "; legal were " + detail.legal()));
    }

    /** A program's notes are one line each, unless who runs it has chosen a format. */
    private static void plainNotes() {
        String format = "java.util.logging.SimpleFormatter.format";
        if (System.getProperty(format) == null) {
            System.setProperty(format, "%5$s%6$s%n");
        }
    }

    /**
     * At Ctrl-C leaves and exits; at a second one exits at once. The JDK has no public way to hear a signal; where this one is
     * missing, Ctrl-C ends the program without a word to the server.
     */
    private static void onInterrupt(Runnable leave) {
        AtomicBoolean leaving = new AtomicBoolean();
        Runnable heard = () -> {
            if (leaving.getAndSet(true)) {
                Runtime.getRuntime().halt(INTERRUPTED);
            }
            leave.run();
            System.exit(INTERRUPTED);
        };
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Class<?>[] kinds = {handler};
            Object listener = Proxy.newProxyInstance(handler.getClassLoader(), kinds, (self, method, arguments) -> {
                heard.run();
                return null;
            });
            Object interrupt = signal.getConstructor(String.class).newInstance("INT");
            signal.getMethod("handle", signal, handler).invoke(null, interrupt, listener);
        } catch (ReflectiveOperationException | IllegalArgumentException error) {
            LOG.log(Level.DEBUG, "Ctrl-C is not heard", error);
        }
    }

    /**
     * Connects to the server and says hello.
     *
     * @param settings the server, who plays, and how
     * @return a client that the server has let in; it comes back by itself when its connection breaks
     * @throws SettingError if a setting is wrong
     * @throws ConnectError if the server cannot be reached
     * @throws AuthError if the server refuses who plays
     * @throws ProtocolError if the server refuses the bot for another reason
     */
    public static Client connect(Settings settings) throws ModiarException {
        Client client = new Client(settings.copy());
        try {
            client.open();
            return client;
        } catch (ModiarException error) {
            client.close();
            throw error;
        }
    }

    // ---- Settings -----------------------------------------------------------------------------------------------------------

    /**
     * The server, who plays, and how. What is not set is taken from the environment, and else by default. A text that is empty
     * counts as not set. What is wrong is told by {@link #connect} and {@link #run}.
     */
    public static final class Settings {
        private String host = environment("MODIAR_HOST");
        private String port = environment("MODIAR_PORT");
        private String name = environment("MODIAR_NAME");
        private String token = environment("MODIAR_TOKEN");
        private String tls = environment("MODIAR_TLS");
        private String ca = environment("MODIAR_CA");
        private String version;
        private int games = 1;
        private boolean strict;
        private Consumer<Ended> ended = end -> {};

        /** The settings of the environment. */
        public Settings() {}

        /**
         * Sets the host.
         *
         * @param host a name or an address; MODIAR_HOST, by default 127.0.0.1
         * @return this
         */
        public Settings host(String host) {
            this.host = host;
            return this;
        }

        /**
         * Sets the port.
         *
         * @param port from 1 to 65535; MODIAR_PORT, by default 6634
         * @return this
         */
        public Settings port(int port) {
            this.port = String.valueOf(port);
            return this;
        }

        /**
         * Sets the bot's name.
         *
         * @param name MODIAR_NAME; without one the server takes the bot as a guest and names it
         * @return this
         */
        public Settings name(String name) {
            this.name = name;
            return this;
        }

        /**
         * Sets the bot's token.
         *
         * @param token MODIAR_TOKEN; without one the bot is a guest. It is printed nowhere
         * @return this
         */
        public Settings token(String token) {
            this.token = token;
            return this;
        }

        /**
         * Sets whether TLS is spoken.
         *
         * @param tls true for the port of a host with a certificate; MODIAR_TLS=1
         * @return this
         */
        public Settings tls(boolean tls) {
            this.tls = tls ? "1" : null;
            return this;
        }

        /**
         * Sets whose certificates are trusted, in place of the system's; TLS too.
         *
         * @param ca a file of certificates in PEM; MODIAR_CA
         * @return this
         */
        public Settings ca(String ca) {
            this.ca = ca;
            return this;
        }

        /**
         * Sets the bot's build.
         *
         * @param version at most 64 characters; a new one starts a line of its own in the bot's history
         * @return this
         */
        public Settings version(String version) {
            this.version = version;
            return this;
        }

        /**
         * Sets how many games are played at once.
         *
         * @param games from 1 to 1,000,000, by default 1; the server may allow fewer
         * @return this
         */
        public Settings games(int games) {
            this.games = games;
            return this;
        }

        /**
         * Sets whether {@link #run} ends when the bot throws.
         *
         * @param strict true to end; by default the game is resigned and the program plays on
         * @return this
         */
        public Settings strict(boolean strict) {
            this.strict = strict;
            return this;
        }

        /**
         * Sets who hears that a game has ended. It is called in the client's own thread, once a game, and should be short.
         *
         * @param ended what is called
         * @return this
         */
        public Settings ended(Consumer<Ended> ended) {
            this.ended = ended;
            return this;
        }

        private Settings copy() {
            Settings copy = new Settings().host(host).name(name).token(token).ca(ca).version(version);
            copy.port = port;
            copy.tls = tls;
            return copy.games(games).strict(strict).ended(ended);
        }

        private Server server() throws SettingError {
            String number = isSet(port) ? port : "6634";
            if (!number.matches("[0-9]{1,5}") || Integer.parseInt(number) < 1 || Integer.parseInt(number) > 65535) {
                throw new SettingError("MODIAR_PORT", number, "set it to a number from 1 to 65535");
            }
            if (games < 1 || games > MOST_GAMES) {
                throw new SettingError("games", String.valueOf(games), "set it to a number from 1 to " + MOST_GAMES);
            }
            return new Server(isSet(host) ? host : "127.0.0.1", Integer.parseInt(number), encryption());
        }

        /** What encrypts, or null where TLS is not wanted. */
        private SSLContext encryption() throws SettingError {
            if (isSet(tls) && !tls.equals("1")) {
                throw new SettingError("MODIAR_TLS", tls, "set it to 1, or unset it where the port speaks no TLS");
            }
            try {
                return isSet(ca) ? trusting(ca) : isSet(tls) ? SSLContext.getDefault() : null;
            } catch (IOException | GeneralSecurityException error) {
                throw new SettingError("MODIAR_CA", ca, error.getMessage() + "; name a file of certificates in PEM");
            }
        }

        private static SSLContext trusting(String file) throws IOException, GeneralSecurityException {
            Collection<? extends Certificate> certificates;
            try (InputStream in = new FileInputStream(file)) {
                certificates = CertificateFactory.getInstance("X.509").generateCertificates(in);
            }
            if (certificates.isEmpty()) {
                throw new IOException("there is no certificate in it");
            }
            KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
            trusted.load(null, null);
            for (Certificate certificate : certificates) {
                trusted.setCertificateEntry(String.valueOf(trusted.size()), certificate);
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        }

        private static String environment(String variable) {
            return System.getenv(variable);
        }

        private static boolean isSet(String text) {
            return text != null && !text.isEmpty();
        }
    }

    /** Where the server is; {@code tls} is null where its port speaks none. */
    private record Server(String host, int port, SSLContext tls) {
        @Override
        public String toString() {
            return host + ":" + port;
        }
    }

    // ---- What a bot sees ----------------------------------------------------------------------------------------------------

    /** A side of the board. */
    public enum Side {
        /** Pits 0 1 2; plays first. */
        SOUTH,
        /** Pits 3 4 5. */
        NORTH;

        /**
         * The side across.
         *
         * @return the other side
         */
        public Side other() {
            return this == SOUTH ? NORTH : SOUTH;
        }

        /**
         * The side as the protocol writes it.
         *
         * @return {@code south} or {@code north}
         */
        public String text() {
            return this == SOUTH ? "south" : "north";
        }

        /** Its first pit. */
        private int first() {
            return this == SOUTH ? 0 : 3;
        }

        private boolean owns(int pit) {
            return pit >= first() && pit < first() + 3;
        }
    }

    /**
     * Seeds of each side.
     *
     * @param south South's
     * @param north North's
     */
    public record Seeds(int south, int north) {
        /**
         * One side's.
         *
         * @param side whose
         * @return its seeds
         */
        public int of(Side side) {
            return side == Side.SOUTH ? south : north;
        }

        private Seeds plus(Side side, int seeds) {
            return side == Side.SOUTH ? new Seeds(south + seeds, north) : new Seeds(south, north + seeds);
        }
    }

    /**
     * Milliseconds of each side.
     *
     * @param south South's
     * @param north North's
     */
    public record Millis(long south, long north) {
        /**
         * One side's.
         *
         * @param side whose
         * @return its milliseconds
         */
        public long of(Side side) {
            return side == Side.SOUTH ? south : north;
        }
    }

    /**
     * The ply before a turn.
     *
     * @param ply its number, from 1
     * @param side who played it
     * @param pit the pit
     * @param taken seeds captured by it
     * @param elapsedMs {@code elapsed_ms}: how long it took, in milliseconds
     */
    public record Last(long ply, Side side, int pit, int taken, long elapsedMs) {}

    /**
     * What an illegal move was.
     *
     * @param pit the pit
     * @param clause the clause that it breaks
     * @param legal what might have been played
     */
    public record Detail(int pit, String clause, List<Integer> legal) {}

    /**
     * What a game made of the bot's rating, in rating points.
     *
     * @param before before it
     * @param after after it
     * @param rd the deviation after it
     */
    public record RatingChange(double before, double after, double rd) {}

    /** A move is wanted. It never changes; to answer it, {@link #play} or {@link #resign}. */
    public static final class Turn {
        private final Client client;
        private final ServerMessage.Turn asked;
        private final ServerMessage.Started started;
        private final Position position;
        private final List<Integer> legal;
        private final long deadline;

        /** {@code started} may be null: then the server has not told of the game. */
        Turn(Client client, ServerMessage.Turn asked, ServerMessage.Started started, long heard) {
            this(client, asked, started, asked.legal(), deadline(asked, heard));
        }

        private Turn(Client client, ServerMessage.Turn asked, ServerMessage.Started started, List<Integer> legal, long deadline) {
            this.client = client;
            this.asked = asked;
            this.started = started;
            this.position = new Position(asked.pits(), asked.captured(), asked.side(), asked.ply());
            this.legal = legal;
            this.deadline = deadline;
        }

        private static long deadline(ServerMessage.Turn asked, long heard) {
            // Halved, so that no sum of it overflows: 146 years are enough.
            return heard + Math.min(TimeUnit.MILLISECONDS.toNanos(asked.remainingMs().of(asked.side())), Long.MAX_VALUE / 2);
        }

        /** The same turn again, after a pit that the server refused and forgave. */
        private Turn again(List<Integer> legal) {
            return new Turn(client, asked, started, legal, deadline);
        }

        /**
         * The game.
         *
         * @return its id
         */
        public String game() {
            return asked.game();
        }

        /**
         * The ply to play.
         *
         * @return its number; the game's first is 1
         */
        public long ply() {
            return asked.ply();
        }

        /**
         * The side to move, which is this bot's.
         *
         * @return the side
         */
        public Side side() {
            return asked.side();
        }

        /**
         * The board, with the rules.
         *
         * @return the position
         */
        public Position position() {
            return position;
        }

        /**
         * What may be played.
         *
         * @return 1 to 3 pits, ascending; never empty
         */
        public List<Integer> legal() {
            return legal;
        }

        /**
         * The clocks at the start of this turn.
         *
         * @return milliseconds of each side
         */
        public Millis remainingMs() {
            return asked.remainingMs();
        }

        /**
         * When the own clock runs out: the arrival of the turn and what remained.
         *
         * @return a time of {@link System#nanoTime}
         */
        public long deadline() {
            return deadline;
        }

        /**
         * How long the own clock still runs.
         *
         * @return the time until {@link #deadline}; negative behind it
         */
        public Duration left() {
            return Duration.ofNanos(deadline - System.nanoTime());
        }

        /**
         * The opponent.
         *
         * @return its name, if the server has told it
         */
        public Optional<String> opponent() {
            return Optional.ofNullable(started).map(game -> side() == Side.SOUTH ? game.north().name() : game.south().name());
        }

        /**
         * Whether the game changes ratings.
         *
         * @return true if it does
         */
        public boolean rated() {
            return started != null && started.rated();
        }

        /**
         * The pool of the game.
         *
         * @return its name, if the server has told it
         */
        public Optional<String> pool() {
            return Optional.ofNullable(started).map(ServerMessage.Started::pool);
        }

        /**
         * The ply before.
         *
         * @return it, unless this is the first ply after the opening
         */
        public Optional<Last> last() {
            return Optional.ofNullable(asked.last());
        }

        /**
         * Plays a legal pit. Where the connection is broken, or the game over, it does no harm.
         *
         * @param pit one of {@link #legal}
         * @throws IllegalMove if it is another; nothing is sent then
         * @throws IllegalStateException if this turn was answered already
         */
        public void play(int pit) throws IllegalMove {
            if (!legal.contains(pit)) {
                throw new IllegalMove(pit, position.clause(pit).orElse("rules.move.own-row"), legal);
            }
            play(pit, true);
        }

        /**
         * Plays a pit, legal or not.
         *
         * @param pit the pit
         * @param raw true to send it without a look; a pit that is illegal loses the game, unless its pool forgives some
         * @throws IllegalMove if it is not raw, and illegal; nothing is sent then
         * @throws IllegalStateException if this turn was answered already
         */
        public void play(int pit, boolean raw) throws IllegalMove {
            if (raw) {
                client.answer(this, new ClientMessage.Move(game(), pit, ply(), null));
            } else {
                play(pit);
            }
        }

        /** Gives the game up. */
        public void resign() {
            client.answer(this, new ClientMessage.Resign(game(), null));
        }

        @Override
        public String toString() {
            return "Turn[" + game() + " " + position.text() + " legal " + legal + "]";
        }
    }

    /**
     * A game is over.
     *
     * @param game its id
     * @param result who won: {@code south}, {@code north}, {@code draw} or {@code none}
     * @param termination why it ended: {@code immobile}, {@code repetition}, {@code quiet_plies}, {@code majority},
     *     {@code resignation}, {@code time_forfeit}, {@code illegal_move}, {@code aborted} or {@code server_error}
     * @param score seeds of each side
     * @param side this bot's, if the game was known
     * @param rating what it made of the bot's rating, if it was rated
     * @param detail what an illegal move was
     */
    public record Ended(String game, String result, String termination, Seeds score, Optional<Side> side,
        Optional<RatingChange> rating, Optional<Detail> detail) {}

    // ---- The rules ----------------------------------------------------------------------------------------------------------

    /**
     * The board at one ply, and what the rules say of it. It never changes.
     *
     * @param pits seeds in pits 0 to 5
     * @param captured seeds captured by each side
     * @param side the side to move
     * @param ply the ply to be played, from 1
     */
    public record Position(List<Integer> pits, Seeds captured, Side side, long ply) {
        private static final int PITS = 6;
        private static final int SEEDS = 42;
        private static final String NUMBER = "(0|[1-9][0-9]{0,9})";
        private static final String ROW = NUMBER + "\\." + NUMBER + "\\." + NUMBER;
        private static final Pattern TEXT = Pattern.compile(ROW + "-" + ROW + " " + NUMBER + "-" + NUMBER + " ([sn]) " + NUMBER);

        /**
         * A position of any pits, six of them.
         *
         * @param pits seeds in pits 0 to 5
         * @param captured seeds captured by each side
         * @param side the side to move
         * @param ply the ply to be played, from 1
         */
        public Position {
            pits = List.copyOf(pits);
            if (pits.size() != PITS) {
                throw new IllegalArgumentException("there are " + pits.size() + " pits: give six");
            }
        }

        /**
         * Where every game begins.
         *
         * @return seven seeds in each pit, and South to move
         */
        public static Position start() {
            return new Position(List.of(7, 7, 7, 7, 7, 7), new Seeds(0, 0), Side.SOUTH, 1);
        }

        /**
         * Reads a position, {@code 7.7.7-7.7.7 0-0 s 1}.
         *
         * @param text South's row and North's row in sowing order, captured by South and North, side to move, ply
         * @return the position
         * @throws IllegalPosition if it is none; it names the clause
         */
        public static Position parse(String text) throws IllegalPosition {
            Matcher parts = TEXT.matcher(text);
            if (!parts.matches()) {
                throw new IllegalPosition(text, "rules.text.position");
            }
            long[] numbers = new long[PITS + 2];
            for (int i = 0; i < numbers.length; i++) {
                numbers[i] = Long.parseLong(parts.group(i + 1));
            }
            long ply = Long.parseLong(parts.group(10));
            if (Arrays.stream(numbers).anyMatch(seeds -> seeds > 255) || ply < 1 || ply > 0xffff_ffffL) {
                throw new IllegalPosition(text, "rules.text.position");
            }
            if (Arrays.stream(numbers).sum() != SEEDS) {
                throw new IllegalPosition(text, "rules.board.conserved");
            }
            Side side = parts.group(9).equals("s") ? Side.SOUTH : Side.NORTH;
            if ((ply % 2 == 1) != (side == Side.SOUTH)) {
                throw new IllegalPosition(text, "rules.turn.south-first");
            }
            List<Integer> pits = Arrays.stream(numbers, 0, PITS).mapToObj(seeds -> (int) seeds).toList();
            return new Position(pits, new Seeds((int) numbers[PITS], (int) numbers[PITS + 1]), side, ply);
        }

        /**
         * The position as {@link #parse} reads it.
         *
         * @return its text
         */
        public String text() {
            return String.format("%d.%d.%d-%d.%d.%d", pits.toArray())
                + " " + captured.south() + "-" + captured.north() + (side == Side.SOUTH ? " s " : " n ") + ply;
        }

        /**
         * What may be played.
         *
         * @return the legal pits, ascending; empty where the game has ended
         */
        public List<Integer> legal() {
            List<Integer> legal = new ArrayList<>();
            for (int pit = side.first(); pit < side.first() + 3; pit++) {
                if (clause(pit).isEmpty()) {
                    legal.add(pit);
                }
            }
            return List.copyOf(legal);
        }

        /**
         * Why a pit may not be played.
         *
         * @param pit any number
         * @return the first clause that it breaks: {@code rules.move.own-row}, {@code rules.move.empty-pit},
         *     {@code rules.move.singleton}, {@code rules.slam.banned} or {@code rules.feed.must}; empty where it is legal
         */
        public Optional<String> clause(int pit) {
            if (!side.owns(pit)) {
                return Optional.of("rules.move.own-row");
            }
            if (pits.get(pit) < 2) {
                return Optional.of(pits.get(pit) == 0 ? "rules.move.empty-pit" : "rules.move.singleton");
            }
            if (slams(pit)) {
                return Optional.of("rules.slam.banned");
            }
            return isHungry() && !feeds(pit) && isAbleToFeed() ? Optional.of("rules.feed.must") : Optional.empty();
        }

        /**
         * Plays a legal pit.
         *
         * @param pit the pit
         * @return the position after it, and the seeds captured
         * @throws IllegalMove if it is not legal; it names the clause
         */
        public Played play(int pit) throws IllegalMove {
            Optional<String> clause = clause(pit);
            if (clause.isPresent()) {
                throw new IllegalMove(pit, clause.get(), legal());
            }
            return sow(pit);
        }

        /**
         * What each side has once it took the seeds of its own row, as it does where nobody can move.
         *
         * @return seeds of each side
         */
        public Seeds score() {
            return captured.plus(Side.SOUTH, row(Side.SOUTH)).plus(Side.NORTH, row(Side.NORTH));
        }

        /**
         * What the position is worth to the side to move: the clause {@code bots.worth}.
         *
         * @param depth how many plies to look ahead, from 0
         * @return seeds more than the opponent's; negative where they are fewer
         */
        public int value(int depth) {
            List<Integer> legal = legal();
            if (legal.isEmpty() || depth == 0) {
                Seeds counted = legal.isEmpty() ? score() : captured;
                return counted.of(side) - counted.of(side.other());
            }
            int best = Integer.MIN_VALUE;
            for (int pit : legal) {
                best = Math.max(best, -sow(pit).after().value(depth - 1));
            }
            return best;
        }

        /**
         * The bot {@code bots.greedy}.
         *
         * @return the legal pit that captures most on this ply; of equal ones the lowest
         * @throws NoSuchElementException if there is no legal pit
         */
        public int greedy() {
            return best(pit -> sow(pit).taken());
        }

        /**
         * The bot {@code bots.minimax} at its own depth, 6.
         *
         * @return the legal pit of the highest worth; of equal ones the lowest
         * @throws NoSuchElementException if there is no legal pit
         */
        public int minimax() {
            return minimax(6);
        }

        /**
         * The bot {@code bots.minimax}.
         *
         * @param depth how many plies to look ahead, from 1
         * @return the legal pit of the highest worth; of equal ones the lowest
         * @throws NoSuchElementException if there is no legal pit
         */
        public int minimax(int depth) {
            return best(pit -> -sow(pit).after().value(depth - 1));
        }

        /** The legal pit of the highest worth; of equal ones the lowest, for a later one must be better. */
        private int best(IntUnaryOperator worth) {
            int best = -1;
            int most = Integer.MIN_VALUE;
            for (int pit : legal()) {
                int gain = worth.applyAsInt(pit);
                if (best < 0 || gain > most) {
                    best = pit;
                    most = gain;
                }
            }
            if (best < 0) {
                throw new NoSuchElementException("no pit is legal in " + text());
            }
            return best;
        }

        /** Sows and captures, whether it is legal or not. */
        private Played sow(int pit) {
            int[] after = pits.stream().mapToInt(Integer::intValue).toArray();
            int seeds = after[pit];
            after[pit] = 0;
            for (int step = 0; step < seeds; step++) { // the first goes back into the pit it came from
                after[(pit + step) % PITS]++;
            }
            int taken = 0;
            int last = (pit + seeds - 1) % PITS;
            while (ply > 1 && (after[last] == 2 || after[last] == 4 || after[last] == 6)) { // backwards, across both rows
                taken += after[last];
                after[last] = 0;
                last = (last + PITS - 1) % PITS;
            }
            List<Integer> board = Arrays.stream(after).boxed().toList();
            return new Played(new Position(board, captured.plus(side, taken), side.other(), ply + 1), taken);
        }

        private int row(Side side) {
            return pits.subList(side.first(), side.first() + 3).stream().mapToInt(Integer::intValue).sum();
        }

        /** Whether the move captures all that the opponent's row holds once it is sown. */
        private boolean slams(int pit) {
            Played played = sow(pit);
            return played.taken() > 0 && played.after().row(side.other()) == 0 && (row(side.other()) > 0 || feeds(pit));
        }

        /** Whether the opponent's row holds no seed. */
        private boolean isHungry() {
            return row(side.other()) == 0;
        }

        /** Whether sowing the pit reaches the opponent's row. */
        private boolean feeds(int pit) {
            return pit + pits.get(pit) > side.first() + 3;
        }

        private boolean isAbleToFeed() {
            for (int pit = side.first(); pit < side.first() + 3; pit++) {
                if (pits.get(pit) >= 2 && feeds(pit) && !slams(pit)) {
                    return true;
                }
            }
            return false;
        }
    }

    /**
     * What a move leads to.
     *
     * @param after the position after it
     * @param taken seeds captured by it
     */
    public record Played(Position after, int taken) {}

    // ---- What goes wrong ----------------------------------------------------------------------------------------------------

    /** Whatever this library has to complain of. */
    public abstract static sealed class ModiarException extends Exception
        permits SettingError, ConnectError, AuthError, ProtocolError, IllegalMove, IllegalPosition {
        private static final long serialVersionUID = 1;

        private ModiarException(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /** A setting is wrong; the message names it, its value, and what to do. */
    public static final class SettingError extends ModiarException {
        private static final long serialVersionUID = 1;

        private SettingError(String setting, String value, String advice) {
            super(setting + " is '" + value + "': " + advice, null);
        }
    }

    /** The server cannot be reached; the message names host, port and cause. */
    public static final class ConnectError extends ModiarException {
        private static final long serialVersionUID = 1;

        private ConnectError(Server server, String why, Throwable cause) {
            super("cannot connect to " + server + ": " + why, cause);
        }
    }

    /**
     * The server refuses who plays: {@code auth_failed}, {@code name_taken}, {@code bad_name}, {@code registration_closed} or
     * {@code guests_closed}.
     */
    public static final class AuthError extends ModiarException {
        private static final long serialVersionUID = 1;
        private static final Set<String> CODES = Set.of(ErrorCode.AUTH_FAILED, ErrorCode.NAME_TAKEN, ErrorCode.BAD_NAME,
            ErrorCode.REGISTRATION_CLOSED, ErrorCode.GUESTS_CLOSED);

        /** The code, one of {@link ErrorCode}. */
        private final String code;

        private AuthError(ServerMessage.Error error) {
            super(error.code() + ": " + error.message(), null);
            this.code = error.code();
        }

        /**
         * What programs read.
         *
         * @return one of {@link ErrorCode}
         */
        public String code() {
            return code;
        }
    }

    /** The server refuses to go on, or what it sends cannot be read. */
    public static final class ProtocolError extends ModiarException {
        private static final long serialVersionUID = 1;

        /** The code. */
        private final String code;
        /** The field, or null. */
        private final String field;
        /** The clause, or null. */
        private final String clause;
        /** Whether it ends the connection. */
        private final boolean fatal;

        private ProtocolError(ServerMessage.Error error) {
            super(error.code() + ": " + error.message(), null);
            this.code = error.code();
            this.field = error.field();
            this.clause = error.clause();
            this.fatal = error.fatal();
        }

        private ProtocolError(String code, String message) {
            this(new ServerMessage.Error(code, message, true, null, null, null, null, null, null));
        }

        /**
         * What programs read.
         *
         * @return one of {@link ErrorCode}, or the reason of a goodbye
         */
        public String code() {
            return code;
        }

        /**
         * The field at fault.
         *
         * @return its name, with {@code bad_field}
         */
        public Optional<String> field() {
            return Optional.ofNullable(field);
        }

        /**
         * The clause of the specification.
         *
         * @return its id, where the server named one
         */
        public Optional<String> clause() {
            return Optional.ofNullable(clause);
        }

        /**
         * Whether the connection ends by it.
         *
         * @return true if it does
         */
        public boolean fatal() {
            return fatal;
        }
    }

    /** A pit may not be played. */
    public static final class IllegalMove extends ModiarException {
        private static final long serialVersionUID = 1;

        /** The clause that it breaks. */
        private final String clause;

        private IllegalMove(int pit, String clause, List<Integer> legal) {
            super("pit " + pit + " breaks " + clause + "; legal are " + legal, null);
            this.clause = clause;
        }

        /**
         * Why not.
         *
         * @return the id of the clause that it breaks
         */
        public String clause() {
            return clause;
        }
    }

    /** A text is no position. */
    public static final class IllegalPosition extends ModiarException {
        private static final long serialVersionUID = 1;

        /** The clause that it breaks. */
        private final String clause;

        private IllegalPosition(String text, String clause) {
            super("'" + text + "' breaks " + clause, null);
            this.clause = clause;
        }

        /**
         * Why not.
         *
         * @return the id of the clause that it breaks
         */
        public String clause() {
            return clause;
        }
    }

    /** From the loop over {@link Client#turns}, which can throw nothing else; the cause says what is wrong. */
    public static final class UncheckedModiarException extends RuntimeException {
        private static final long serialVersionUID = 1;

        private UncheckedModiarException(ModiarException cause) {
            super(cause.getMessage(), cause);
        }

        @Override
        public synchronized ModiarException getCause() {
            return (ModiarException) super.getCause();
        }
    }

    /** The codes of an error. A newer server may send others. */
    public static final class ErrorCode {
        /** The line is not one JSON object. */
        public static final String BAD_JSON = "bad_json";
        /** The line is not UTF-8. */
        public static final String BAD_UTF8 = "bad_utf8";
        /** The line is too long. */
        public static final String LINE_TOO_LONG = "line_too_long";
        /** A field is missing, of the wrong type or out of range. */
        public static final String BAD_FIELD = "bad_field";
        /** No message has this type. */
        public static final String UNKNOWN_TYPE = "unknown_type";
        /** Another message came before welcome. */
        public static final String EXPECTED_HELLO = "expected_hello";
        /** A second hello. */
        public static final String UNEXPECTED_HELLO = "unexpected_hello";
        /** The server does not speak this version. */
        public static final String BAD_PROTOCOL = "bad_protocol";
        /** Name and token do not belong together. */
        public static final String AUTH_FAILED = "auth_failed";
        /** The name is owned, or a guest has it now. */
        public static final String NAME_TAKEN = "name_taken";
        /** The name does not match the pattern, or is the server's. */
        public static final String BAD_NAME = "bad_name";
        /** This host does not let bots register themselves. */
        public static final String REGISTRATION_CLOSED = "registration_closed";
        /** This host does not let guests in. */
        public static final String GUESTS_CLOSED = "guests_closed";
        /** The host's limit of connections is reached. */
        public static final String TOO_MANY_CONNECTIONS = "too_many_connections";
        /** Too many messages a second. */
        public static final String RATE_LIMITED = "rate_limited";
        /** The server has no pool of this name. */
        public static final String UNKNOWN_POOL = "unknown_pool";
        /** No bot of this name is connected. */
        public static final String UNKNOWN_BOT = "unknown_bot";
        /** The challenge is over, or between others. */
        public static final String UNKNOWN_CHALLENGE = "unknown_challenge";
        /** This connection seeks in this pool already. */
        public static final String ALREADY_SEEKING = "already_seeking";
        /** More was asked for than a bot may have at once. */
        public static final String GAMES_LIMIT = "games_limit";
        /** The game is not known, or not the bot's. */
        public static final String WRONG_GAME = "wrong_game";
        /** The other side is to move. */
        public static final String NOT_YOUR_TURN = "not_your_turn";
        /** The ply was played already, with another pit. */
        public static final String STALE_PLY = "stale_ply";
        /** This very move was played already. */
        public static final String DUPLICATE = "duplicate";
        /** The game has ended. */
        public static final String GAME_OVER = "game_over";
        /** The pit is illegal, and forgiven. */
        public static final String ILLEGAL_MOVE = "illegal_move";
        /** The server is about to stop. */
        public static final String DRAINING = "draining";
        /** The server failed at this message. */
        public static final String INTERNAL = "internal";

        private ErrorCode() {}
    }

    // ---- The messages -------------------------------------------------------------------------------------------------------
    //
    // The records are the wire: a record's name in snake_case is the message's type, and a component's name is the field's.

    /** The field may be absent; the component is null then. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.RECORD_COMPONENT)
    public @interface Maybe {}

    /**
     * A token. It is printed nowhere.
     *
     * @param text the token itself
     */
    public record Secret(String text) {
        @Override
        public String toString() {
            return "***";
        }

        /** The secret in a text of the settings, or null where there is none. */
        private static Secret of(String text) {
            return Settings.isSet(text) ? new Secret(text) : null;
        }
    }

    /** A message to the server. Each may carry {@code ref}, a String or a Long that returns on the direct reply. */
    public sealed interface ClientMessage {
        /**
         * {@code hello}: says who the bot is.
         *
         * @param protocol the version of the protocol, 1
         * @param name the bot's name; without one it is a guest's
         * @param token proves that the name is the bot's
         * @param register claims the name
         * @param resume a guest's resume token
         * @param client the client library
         * @param version the bot's build
         * @param games most games at once; by default 1
         * @param updates whether {@code moved} is wanted
         * @param ref the mark
         */
        record Hello(int protocol, @Maybe String name, @Maybe Secret token, @Maybe Boolean register, @Maybe Secret resume,
            @Maybe String client, @Maybe String version, @Maybe Integer games, @Maybe Boolean updates, @Maybe Object ref)
            implements ClientMessage {}

        /**
         * {@code seek}: asks for opponents in a pool.
         *
         * @param pool its name
         * @param games how many games, by default 1; 0: until unseek
         * @param ref the mark
         */
        record Seek(String pool, @Maybe Integer games, @Maybe Object ref) implements ClientMessage {}

        /**
         * {@code unseek}: takes a seek back.
         *
         * @param pool its name; by default every pool
         * @param ref the mark
         */
        record Unseek(@Maybe String pool, @Maybe Object ref) implements ClientMessage {}

        /**
         * {@code challenge}: asks one bot for games.
         *
         * @param opponent its name
         * @param pool the pool whose time and rules hold
         * @param side the own side in the first game: {@code south}, {@code north} or {@code random}
         * @param rated whether the games change ratings
         * @param games how many, by default 1
         * @param ref the mark
         */
        record Challenge(String opponent, String pool, @Maybe String side, @Maybe Boolean rated, @Maybe Integer games,
            @Maybe Object ref) implements ClientMessage {}

        /**
         * {@code accept}: takes a challenge up.
         *
         * @param challenge its id
         * @param ref the mark
         */
        record Accept(String challenge, @Maybe Object ref) implements ClientMessage {}

        /**
         * {@code decline}: turns a challenge down, or takes the own one back.
         *
         * @param challenge its id
         * @param ref the mark
         */
        record Decline(String challenge, @Maybe Object ref) implements ClientMessage {}

        /**
         * {@code move}: plays a pit.
         *
         * @param game the game's id
         * @param pit the pit
         * @param ply the ply that it is meant for; by default the current one
         * @param ref the mark
         */
        record Move(String game, int pit, @Maybe Long ply, @Maybe Object ref) implements ClientMessage {}

        /**
         * {@code resign}: gives a game up.
         *
         * @param game its id
         * @param ref the mark
         */
        record Resign(String game, @Maybe Object ref) implements ClientMessage {}

        /**
         * {@code watch}: follows a game of others.
         *
         * @param game its id
         * @param ref the mark
         */
        record Watch(String game, @Maybe Object ref) implements ClientMessage {}

        /**
         * {@code unwatch}: ends following it.
         *
         * @param game its id
         * @param ref the mark
         */
        record Unwatch(String game, @Maybe Object ref) implements ClientMessage {}

        /**
         * {@code ping}: asks for a sign of life.
         *
         * @param ref the mark
         */
        record Ping(@Maybe Object ref) implements ClientMessage {}

        /**
         * {@code bye}: ends the connection.
         *
         * @param ref the mark
         */
        record Bye(@Maybe Object ref) implements ClientMessage {}
    }

    /** A message from the server. {@code ref} is the mark of the message that it answers, a String or a Long. */
    public sealed interface ServerMessage {
        /**
         * {@code welcome}: lets the bot in.
         *
         * @param protocol the version of the protocol
         * @param server program and version
         * @param bot who the server says that the bot is
         * @param token the token of a bot that has just registered
         * @param resume what brings a guest back
         * @param pools all pools
         * @param limits what the server allows
         * @param games ids of games to go on with
         * @param missed ends that the bot was not told
         * @param ref the mark
         */
        record Welcome(int protocol, String server, Identity bot, @Maybe Secret token, @Maybe Secret resume, List<Pool> pools,
            Limits limits, List<String> games, List<Ended> missed, @Maybe Object ref) implements ServerMessage {}

        /**
         * Who a bot is.
         *
         * @param name its name
         * @param guest whether it is a guest
         * @param ratings by pool
         */
        record Identity(String name, boolean guest, Map<String, Standing> ratings) {}

        /**
         * A bot's rating in a pool, in rating points.
         *
         * @param rating the rating
         * @param rd its deviation
         * @param games games of this season
         */
        record Standing(double rating, double rd, long games) {}

        /**
         * A pool.
         *
         * @param name its name
         * @param time its time control
         * @param rated whether its games change ratings
         * @param openings {@code start} or {@code balanced}
         * @param rules its rules
         */
        record Pool(String name, Time time, boolean rated, String openings, Rules rules) {}

        /**
         * A time control, in milliseconds.
         *
         * @param baseMs {@code base_ms}: what a game begins with
         * @param incrementMs {@code increment_ms}: added after each ply
         * @param graceMs {@code grace_ms}: not charged of each ply
         * @param moveMs {@code move_ms}: most for one ply
         */
        record Time(long baseMs, long incrementMs, long graceMs, @Maybe Long moveMs) {}

        /**
         * Rules and the limits of endless play.
         *
         * @param name {@code modiar}
         * @param repetition the standing that ends a game; 0: off
         * @param quietPlies {@code quiet_plies}: plies without a capture that end it; 0: off
         * @param majority whether 22 captured seeds end it
         * @param illegalMoves {@code illegal_moves}: how many are forgiven
         */
        record Rules(String name, int repetition, int quietPlies, boolean majority, int illegalMoves) {}

        /**
         * What the server allows.
         *
         * @param lineBytes {@code line_bytes}: the longest line to it
         * @param messagesPerS {@code messages_per_s}: messages a second
         * @param games most games at once
         */
        record Limits(long lineBytes, long messagesPerS, long games) {}

        /**
         * {@code seeking}: a seek waits.
         *
         * @param pool its pool
         * @param waiting bots waiting there, this one included
         * @param reason why it waits
         * @param ref the mark
         */
        record Seeking(String pool, long waiting, @Maybe String reason, @Maybe Object ref) implements ServerMessage {}

        /**
         * {@code seek_ended}: a seek is over.
         *
         * @param pool its pool
         * @param reason {@code cancelled}, {@code done}, {@code draining} or {@code penalised}
         * @param untilMs {@code until_ms}: when a new one is possible, Unix time
         * @param message what the bot did
         * @param ref the mark
         */
        record SeekEnded(String pool, String reason, @Maybe Long untilMs, @Maybe String message, @Maybe Object ref)
            implements ServerMessage {}

        /**
         * {@code challenged}: another bot asks for games.
         *
         * @param challenge the challenge's id
         * @param from who asks
         * @param pool the pool whose time and rules hold
         * @param side the challenger's in the first game: {@code south}, {@code north} or {@code random}
         * @param rated whether the games change ratings
         * @param games how many
         * @param expiresMs {@code expires_ms}: how long it stands
         */
        record Challenged(String challenge, Challenger from, String pool, String side, boolean rated, int games, long expiresMs)
            implements ServerMessage {}

        /**
         * Who challenges.
         *
         * @param name its name
         * @param rating its rating
         */
        record Challenger(String name, @Maybe Double rating) {}

        /**
         * {@code challenge_sent}: a challenge is on its way.
         *
         * @param challenge its id
         * @param ref the mark
         */
        record ChallengeSent(String challenge, @Maybe Object ref) implements ServerMessage {}

        /**
         * {@code challenge_ended}: a challenge is over.
         *
         * @param challenge its id
         * @param reason {@code declined}, {@code expired}, {@code cancelled}, {@code unavailable} or {@code draining}
         * @param ref the mark
         */
        record ChallengeEnded(String challenge, String reason, @Maybe Object ref) implements ServerMessage {}

        /**
         * {@code started}: the whole state of a game.
         *
         * @param game its id
         * @param pool its pool
         * @param rated whether it changes ratings
         * @param side the bot's side
         * @param spectator true where the bot only watches
         * @param south who plays South
         * @param north who plays North
         * @param time the time control
         * @param rules the rules
         * @param opening pits that the server has played
         * @param moves all pits so far
         * @param ply the ply to be played next
         * @param sideToMove {@code side_to_move}: who plays it
         * @param pits the board
         * @param captured seeds captured
         * @param remainingMs {@code remaining_ms}: the clocks
         * @param resumed whether the bot comes back to it
         * @param ref the mark
         */
        record Started(String game, String pool, boolean rated, @Maybe Side side, @Maybe Boolean spectator, Player south,
            Player north, Time time, Rules rules, String opening, String moves, long ply, Side sideToMove, List<Integer> pits,
            Seeds captured, Millis remainingMs, boolean resumed, @Maybe Object ref) implements ServerMessage {}

        /**
         * One of the two bots.
         *
         * @param name its name
         * @param guest whether it is a guest
         * @param rating its rating
         * @param version its build
         */
        record Player(String name, boolean guest, @Maybe Double rating, @Maybe String version) {}

        /**
         * {@code turn}: a move is wanted.
         *
         * @param game the game's id
         * @param ply the ply to play
         * @param side the bot's side
         * @param pits the board
         * @param captured seeds captured
         * @param legal what may be played
         * @param remainingMs {@code remaining_ms}: the clocks
         * @param last the ply before
         */
        record Turn(String game, long ply, Side side, List<Integer> pits, Seeds captured, List<Integer> legal,
            Millis remainingMs, @Maybe Last last) implements ServerMessage {}

        /**
         * {@code moved}: a ply was played.
         *
         * @param game the game's id
         * @param ply its number
         * @param side who played it
         * @param pit the pit
         * @param taken seeds captured by it
         * @param elapsedMs {@code elapsed_ms}: how long it took
         * @param pits the board after it
         * @param captured seeds captured
         * @param remainingMs {@code remaining_ms}: the clocks
         */
        record Moved(String game, long ply, Side side, int pit, int taken, long elapsedMs, List<Integer> pits, Seeds captured,
            Millis remainingMs) implements ServerMessage {}

        /**
         * {@code ended}: a game is over.
         *
         * @param game its id
         * @param result who won
         * @param termination why it ended
         * @param score seeds of each side
         * @param pits the board before the sides took their rows
         * @param ply the last ply played
         * @param detail what an illegal move was
         * @param rating what it made of the bot's rating
         */
        record Ended(String game, String result, String termination, Seeds score, List<Integer> pits, long ply,
            @Maybe Detail detail, @Maybe RatingChange rating) implements ServerMessage {}

        /**
         * {@code error}: a message was not acted on.
         *
         * @param code one of {@link ErrorCode}
         * @param message the same in words
         * @param fatal whether the connection ends by it
         * @param ref the mark
         * @param game the game that it is about
         * @param field the field at fault
         * @param clause the clause that was broken
         * @param legal what may be played
         * @param supported versions that the server speaks
         */
        record Error(String code, String message, boolean fatal, @Maybe Object ref, @Maybe String game, @Maybe String field,
            @Maybe String clause, @Maybe List<Integer> legal, @Maybe List<Integer> supported) implements ServerMessage {}

        /**
         * {@code notice}: something that concerns every connection.
         *
         * @param code {@code draining}
         * @param message the same in words
         * @param untilMs {@code until_ms}: when running games are suspended, Unix time
         */
        record Notice(String code, String message, @Maybe Long untilMs) implements ServerMessage {}

        /**
         * {@code goodbye}: the last message of a connection.
         *
         * @param reason {@code bye}, {@code handshake}, {@code replaced}, {@code flood}, {@code slow_reader},
         *     {@code line_too_long}, {@code banned}, {@code draining} or {@code internal}
         * @param message the same in words
         * @param ref the mark
         */
        record Goodbye(String reason, String message, @Maybe Object ref) implements ServerMessage {}

        /**
         * {@code pong}: a sign of life.
         *
         * @param timeMs {@code time_ms}: Unix time
         * @param ref the mark
         */
        record Pong(long timeMs, @Maybe Object ref) implements ServerMessage {}

        /**
         * {@code unwatched}: nothing more of a watched game follows.
         *
         * @param game its id
         * @param ref the mark
         */
        record Unwatched(String game, @Maybe Object ref) implements ServerMessage {}
    }

    // ---- Their lines --------------------------------------------------------------------------------------------------------

    /**
     * Writes a message as one line.
     *
     * @param message what to say
     * @return compact JSON in UTF-8, and a newline
     */
    public static byte[] encode(ClientMessage message) {
        return (Json.write(Codec.toJson(message)) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Makes messages of bytes. Lines may come in pieces or many at once; {@code \r\n} ends one too. What is no message is skipped
     * with a note, an unknown type or field with a quiet one. A decoder serves one connection.
     */
    public static final class Decoder {
        private static final int MOST_UNKNOWN = 64;

        private final byte[] line = new byte[LINE_BYTES];
        private int length;
        /** What was told of already. */
        private final Set<String> unknown = new HashSet<>();

        /** A decoder that has read nothing. */
        public Decoder() {}

        /**
         * Takes the next bytes.
         *
         * @param bytes any number of them
         * @return the messages that they complete
         * @throws ProtocolError if a line is longer than {@link #LINE_BYTES}; nothing can be read after it
         */
        public List<ServerMessage> feed(byte[] bytes) throws ProtocolError {
            return feed(bytes, bytes.length);
        }

        private List<ServerMessage> feed(byte[] bytes, int count) throws ProtocolError {
            List<ServerMessage> messages = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                if (length == LINE_BYTES) {
                    throw new ProtocolError(ErrorCode.LINE_TOO_LONG, "a line from the server has over " + LINE_BYTES + " bytes");
                }
                line[length++] = bytes[i];
                if (bytes[i] == '\n') {
                    read().ifPresent(messages::add);
                    length = 0;
                }
            }
            return messages;
        }

        /** The message of the whole line. What it says is not logged: it may hold a token. */
        private Optional<ServerMessage> read() {
            try {
                String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line, 0, length)).toString();
                return text.isBlank() ? Optional.empty() : message(Json.object(Json.read(text)));
            } catch (CharacterCodingException error) {
                LOG.log(Level.WARNING, "skipped a line of " + length + " bytes: it is not UTF-8");
            } catch (Malformed error) {
                LOG.log(Level.WARNING, "skipped a line of " + length + " bytes: " + error.getMessage());
            }
            return Optional.empty();
        }

        private Optional<ServerMessage> message(Map<String, Object> json) throws Malformed {
            Class<?> type = Codec.typeOf(json, ServerMessage.class);
            if (type == null) {
                noteOnce("a message of the unknown type '" + json.get("type") + "'");
                return Optional.empty();
            }
            for (String field : json.keySet()) {
                if (!Codec.hasField(type, field)) {
                    noteOnce("the unknown field '" + field + "' of " + Codec.wireName(type.getSimpleName()));
                }
            }
            return Optional.of((ServerMessage) Codec.fromJson(type, json));
        }

        private void noteOnce(String what) {
            if (unknown.size() < MOST_UNKNOWN && unknown.add(what)) {
                LOG.log(Level.DEBUG, "ignored " + what);
            }
        }
    }

    /** Records from JSON and back. */
    static final class Codec {
        private Codec() {}

        /** The record that the object's {@code type} names among the kinds of message, or null. */
        static Class<?> typeOf(Map<String, Object> json, Class<?> messages) throws Malformed {
            if (!(json.get("type") instanceof String name)) {
                throw new Malformed("it has no type");
            }
            for (Class<?> type : messages.getPermittedSubclasses()) {
                if (wireName(type.getSimpleName()).equals(name)) {
                    return type;
                }
            }
            return null;
        }

        static boolean hasField(Class<?> type, String name) {
            return name.equals("type")
                || Arrays.stream(type.getRecordComponents()).anyMatch(field -> wireName(field.getName()).equals(name));
        }

        /** {@code remainingMs} as {@code remaining_ms}. */
        static String wireName(String name) {
            return name.replaceAll("(?<!^)([A-Z])", "_$1").toLowerCase(Locale.ROOT);
        }

        /** Reads a record. */
        static Object fromJson(Class<?> type, Map<String, Object> json) throws Malformed {
            RecordComponent[] fields = type.getRecordComponents();
            Object[] values = new Object[fields.length];
            for (int i = 0; i < fields.length; i++) {
                String name = wireName(fields[i].getName());
                values[i] = json.get(name);
                if (values[i] != null) {
                    values[i] = value(fields[i].getGenericType(), values[i], name);
                } else if (!fields[i].isAnnotationPresent(Maybe.class)) {
                    throw new Malformed("field '" + name + "' of " + wireName(type.getSimpleName()) + " is missing");
                }
            }
            try {
                Class<?>[] types = Arrays.stream(fields).map(RecordComponent::getType).toArray(Class<?>[]::new);
                return type.getDeclaredConstructor(types).newInstance(values);
            } catch (InvocationTargetException error) {
                throw new Malformed(error.getCause().getMessage());
            } catch (ReflectiveOperationException error) {
                throw new AssertionError(error);
            }
        }

        /** One value as the component's type wants it. */
        private static Object value(Type type, Object json, String field) throws Malformed {
            if (type instanceof ParameterizedType generic) {
                Type[] arguments = generic.getActualTypeArguments();
                return generic.getRawType() == List.class ? list(arguments[0], json, field) : map(arguments[1], json, field);
            }
            if (type == Object.class && (json instanceof String || json instanceof Long)
                || type == String.class && json instanceof String
                || (type == boolean.class || type == Boolean.class) && json instanceof Boolean
                || (type == long.class || type == Long.class) && json instanceof Long) {
                return json;
            }
            if ((type == double.class || type == Double.class) && json instanceof Number number) {
                return number.doubleValue();
            }
            if ((type == int.class || type == Integer.class) && json instanceof Long number && number.intValue() == number) {
                return number.intValue();
            }
            if (type == Secret.class && json instanceof String text) {
                return new Secret(text);
            }
            if (type == Side.class && (json.equals("south") || json.equals("north"))) {
                return json.equals("south") ? Side.SOUTH : Side.NORTH;
            }
            if (type instanceof Class<?> record && record.isRecord() && json instanceof Map) {
                return fromJson(record, Json.object(json));
            }
            throw new Malformed("field '" + field + "' is of a wrong type or out of range");
        }

        private static List<Object> list(Type element, Object json, String field) throws Malformed {
            if (!(json instanceof List<?> values)) {
                throw new Malformed("field '" + field + "' is no array");
            }
            List<Object> list = new ArrayList<>();
            for (Object each : values) {
                if (each == null) {
                    throw new Malformed("field '" + field + "' has a null in it");
                }
                list.add(value(element, each, field));
            }
            return List.copyOf(list);
        }

        private static Map<String, Object> map(Type element, Object json, String field) throws Malformed {
            Map<String, Object> map = new LinkedHashMap<>();
            for (Map.Entry<String, Object> each : Json.object(json).entrySet()) {
                if (each.getValue() == null) {
                    throw new Malformed("field '" + field + "' has a null in it");
                }
                map.put(each.getKey(), value(element, each.getValue(), field));
            }
            return Collections.unmodifiableMap(map);
        }

        /** Writes a value; of a message the type too. Null components are left out. */
        static Object toJson(Object value) {
            if (value instanceof Secret secret) {
                return secret.text();
            }
            if (value instanceof Side side) {
                return side.text();
            }
            if (value instanceof List<?> list) {
                return list.stream().map(Codec::toJson).toList();
            }
            if (value instanceof Map<?, ?> map) {
                Map<String, Object> object = new LinkedHashMap<>();
                map.forEach((key, each) -> object.put((String) key, toJson(each)));
                return object;
            }
            return value instanceof Record record ? fields(record) : value;
        }

        static Map<String, Object> fields(Record record) {
            Map<String, Object> object = new LinkedHashMap<>();
            if (record instanceof ClientMessage || record instanceof ServerMessage) {
                object.put("type", wireName(record.getClass().getSimpleName()));
            }
            for (RecordComponent field : record.getClass().getRecordComponents()) {
                try {
                    Object value = field.getAccessor().invoke(record);
                    if (value != null) {
                        object.put(wireName(field.getName()), toJson(value));
                    }
                } catch (ReflectiveOperationException error) {
                    throw new AssertionError(error);
                }
            }
            return object;
        }
    }

    // ---- JSON ---------------------------------------------------------------------------------------------------------------

    /** A text is not what it should be. */
    static final class Malformed extends Exception {
        private static final long serialVersionUID = 1;

        private Malformed(String message) {
            super(message);
        }
    }

    /** JSON by RFC 8259: objects are Maps, arrays Lists, numbers Long where they are whole and fit, else Double. */
    static final class Json {
        private static final int DEEPEST = 1000;
        private static final Pattern NUMBER = Pattern.compile("-?(?:0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?");

        private final String text;
        private int at;
        private int depth;

        private Json(String text) {
            this.text = text;
        }

        static Object read(String text) throws Malformed {
            Json json = new Json(text);
            Object value = json.value();
            json.peek();
            if (json.at < text.length()) {
                throw new Malformed("it is not JSON: something stands behind its end");
            }
            return value;
        }

        /** The value as the object that it is. */
        @SuppressWarnings("unchecked") // the keys of an object are texts
        static Map<String, Object> object(Object value) throws Malformed {
            if (value instanceof Map) {
                return (Map<String, Object>) value;
            }
            throw new Malformed("it is no JSON object");
        }

        private Object value() throws Malformed {
            return switch (peek()) {
                case '{' -> object();
                case '[' -> array();
                case '"' -> string();
                case 't' -> word("true", true);
                case 'f' -> word("false", false);
                case 'n' -> word("null", null);
                default -> number();
            };
        }

        private Map<String, Object> object() throws Malformed {
            Map<String, Object> object = new LinkedHashMap<>();
            open();
            if (peek() != '}') {
                do {
                    if (peek() != '"') {
                        throw wrong();
                    }
                    String key = string();
                    expect(':');
                    object.put(key, value());
                } while (comma());
            }
            expect('}');
            depth--;
            return object;
        }

        private List<Object> array() throws Malformed {
            List<Object> array = new ArrayList<>();
            open();
            if (peek() != ']') {
                do {
                    array.add(value());
                } while (comma());
            }
            expect(']');
            depth--;
            return array;
        }

        private void open() throws Malformed {
            at++;
            if (++depth > DEEPEST) {
                throw new Malformed("it nests deeper than " + DEEPEST);
            }
        }

        private boolean comma() {
            boolean here = peek() == ',';
            if (here) {
                at++;
            }
            return here;
        }

        private void expect(char wanted) throws Malformed {
            if (peek() != wanted) {
                throw wrong();
            }
            at++;
        }

        /** The next character behind blanks; 0 at the end. */
        private char peek() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
            return at < text.length() ? text.charAt(at) : 0;
        }

        private Object word(String word, Object value) throws Malformed {
            if (!text.startsWith(word, at)) {
                throw wrong();
            }
            at += word.length();
            return value;
        }

        private Object number() throws Malformed {
            Matcher number = NUMBER.matcher(text).region(at, text.length());
            if (!number.lookingAt()) {
                throw wrong();
            }
            at = number.end();
            if (number.group(1) == null && number.group(2) == null) {
                try {
                    return Long.parseLong(number.group());
                } catch (NumberFormatException error) {
                    // It has more than 64 bits; no field of ours has.
                }
            }
            return Double.parseDouble(number.group());
        }

        private String string() throws Malformed {
            StringBuilder string = new StringBuilder();
            at++;
            while (at < text.length() && text.charAt(at) != '"') {
                char next = text.charAt(at++);
                if (next < ' ') {
                    throw wrong();
                }
                string.append(next == '\\' ? escaped() : next);
            }
            if (at == text.length()) {
                throw wrong();
            }
            at++;
            return string.toString();
        }

        private char escaped() throws Malformed {
            char letter = at < text.length() ? text.charAt(at++) : 0;
            int plain = "\"\\/bfnrt".indexOf(letter);
            if (letter == 'u') {
                return unicode();
            } else if (letter == 0 || plain < 0) {
                throw wrong();
            }
            return "\"\\/\b\f\n\r\t".charAt(plain);
        }

        private char unicode() throws Malformed {
            String digits = text.substring(at, Math.min(at + 4, text.length()));
            if (!digits.matches("[0-9a-fA-F]{4}")) {
                throw wrong();
            }
            at += 4;
            return (char) Integer.parseInt(digits, 16);
        }

        private Malformed wrong() {
            return new Malformed("it is not JSON: character " + at + " is out of place");
        }

        static String write(Object value) {
            StringBuilder out = new StringBuilder();
            write(value, out);
            return out.toString();
        }

        private static void write(Object value, StringBuilder out) {
            if (value instanceof Map<?, ?> map) {
                String separator = "{";
                for (Map.Entry<?, ?> each : map.entrySet()) {
                    out.append(separator);
                    quote((String) each.getKey(), out);
                    out.append(':');
                    write(each.getValue(), out);
                    separator = ",";
                }
                out.append(map.isEmpty() ? "{}" : "}");
            } else if (value instanceof List<?> list) {
                String separator = "[";
                for (Object each : list) {
                    out.append(separator);
                    write(each, out);
                    separator = ",";
                }
                out.append(list.isEmpty() ? "[]" : "]");
            } else if (value instanceof String text) {
                quote(text, out);
            } else {
                out.append(value);
            }
        }

        private static void quote(String text, StringBuilder out) {
            out.append('"');
            for (int i = 0; i < text.length(); i++) {
                char next = text.charAt(i);
                if (next < ' ') {
                    out.append(String.format("\\u%04x", (int) next));
                } else if (next == '"' || next == '\\') {
                    out.append('\\').append(next);
                } else {
                    out.append(next);
                }
            }
            out.append('"');
        }
    }

    // ---- The client ---------------------------------------------------------------------------------------------------------

    /**
     * One bot over all its connections. A thread of its own reads, keeps count, and comes back when the connection breaks, while
     * yours thinks. A turn that comes again is answered by the same pit again, and not shown twice.
     *
     * <p>Every field is guarded by the client itself. Nothing blocks while it is held: to send is to put a line in a queue.
     */
    public static final class Client implements AutoCloseable {
        // Between two tries: a random time up to this, which doubles from the first to the last, so that not all bots come at once.
        private static final long FIRST_PAUSE_MS = 250;
        private static final long LAST_PAUSE_MS = 15_000;
        /** A connection that stood for so long was of use, though no move counted over it. */
        private static final long HELD_NANOS = 10_000_000_000L;
        /** So often an idle bot tries to come back. One with a game running never stops. */
        private static final int MOST_TRIES = 60;
        /** So often a move is sent again because the server had no ear for it, and after how long. */
        private static final int MOST_REPEATS = 5;
        private static final long REPEAT_MS = 200;
        /** After how long a seek that came to nothing is sent again; and how much later than the server says, for clocks differ. */
        private static final long SECOND_MS = 1000;
        private static final long WELCOME_MS = 15_000;
        private static final long BYE_MS = 1000;
        private static final long LEAVE_MS = 2000;
        /** Ends that are remembered, so that none is counted twice: far more than a welcome tells again. */
        private static final int MOST_ENDS = 1024;
        /** What the answer of a port that speaks TLS to one who does not begins with; no line does. */
        private static final int TLS_ALERT = 0x15;
        /** Marks of our hello and seek: an error that brings one back is about it. */
        private static final String HELLO = "hello";
        private static final String SEEK = "seek";
        /** The server closes for these, and to come back would not mend it. */
        private static final Set<String> FOR_GOOD = Set.of("banned", "replaced", "flood", "handshake", "line_too_long");

        /** No second hello or seek would change these. */
        private static final Set<String> REFUSED = Set.of(ErrorCode.BAD_PROTOCOL, ErrorCode.BAD_FIELD, ErrorCode.UNKNOWN_POOL);

        private enum Sought { NOTHING, SEEKING, PAUSED, CANCELLED }

        /** What is known of a game that goes on. */
        private static final class Game {
            private ServerMessage.Started started;
            /** The newest, and what it was answered; the answer is null while the bot thinks. */
            private Turn turn;
            private ClientMessage answer;
            private int repeats;
        }

        private final Settings settings;
        private final Server server;
        private final ScheduledThreadPoolExecutor timer;

        private Link link;
        /** By the server at the other end of this link, and when; and ever. */
        private boolean welcomed;
        private long since;
        private boolean known;
        /** A move of the bot has counted over this link. */
        private boolean moved;
        private String name;
        private Secret resume;

        private final Map<String, Game> games = new HashMap<>();
        private final Deque<Turn> asked = new ArrayDeque<>();
        private final Set<String> ends = new LinkedHashSet<>();

        private String pool;
        private int wanted;
        private int played;
        private Sought sought = Sought.NOTHING;
        private boolean draining;

        private long pauseMs = FIRST_PAUSE_MS;
        /** To come back, since the last welcome. */
        private int tries;
        /** Times in a row that the server did not know who plays. */
        private int refusals;

        /** There is nothing to come back for: bye was said, or the bot leaves. */
        private boolean closing;
        private boolean leaving;
        /** The thread has ended. */
        private boolean closed;
        private ModiarException failure;

        private Client(Settings settings) throws SettingError {
            this.settings = settings;
            this.server = settings.server();
            this.name = Settings.isSet(settings.name) ? settings.name : null;
            this.timer = new ScheduledThreadPoolExecutor(1, task -> daemon("modiar-timer", task));
            timer.setRemoveOnCancelPolicy(true);
        }

        private static Thread daemon(String name, Runnable task) {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        }

        // What its user calls.

        /**
         * Plays games in a pool. The loop ends when all are over; where a thread that waits in it is interrupted, it ends too.
         *
         * <pre>{@code for (Modiar.Turn turn : client.turns("practice", 3)) turn.play(turn.legal().get(0));}</pre>
         *
         * @param pool the pool's name
         * @param games how many to play, 0 to 1,000,000; 0: without end
         * @return the turns as they come, to be walked through once; it throws {@link UncheckedModiarException} where the client
         *     has to give up
         * @throws SettingError if the number of games is out of range
         */
        public Iterable<Turn> turns(String pool, int games) throws SettingError {
            seek(pool, games);
            return Turns::new;
        }

        /** Walks through the turns. */
        private final class Turns implements Iterator<Turn> {
            private Turn ahead;

            @Override
            public boolean hasNext() {
                try {
                    ahead = ahead == null ? Client.this.next() : ahead;
                    return ahead != null;
                } catch (ModiarException error) {
                    throw new UncheckedModiarException(error);
                }
            }

            @Override
            public Turn next() {
                if (!hasNext()) {
                    throw new NoSuchElementException("all games are over");
                }
                Turn turn = ahead;
                ahead = null;
                return turn;
            }
        }

        /**
         * Who the server says that this bot is.
         *
         * @return its name
         */
        public synchronized String name() {
            return name;
        }

        /** Says bye, waits at most 1 s for the server's last lines, and closes. Games that go on keep their clocks running. */
        @Override
        public void close() {
            synchronized (this) {
                sayBye();
                if (!welcomed) {
                    hangUp();
                }
            }
            awaitUntil(BYE_MS, () -> closed);
            synchronized (this) {
                hangUp();
            }
            timer.shutdownNow();
        }

        private synchronized void seek(String pool, int games) throws SettingError {
            if (games < 0 || games > MOST_GAMES) {
                throw new SettingError("games", String.valueOf(games), "write a whole number from 0 to " + MOST_GAMES);
            }
            if (this.pool != null && !isFinished()) {
                throw new IllegalStateException("the games before are not over: finish their loop first");
            }
            this.pool = pool;
            wanted = games;
            played = 0;
            sought = Sought.NOTHING;
            goOn();
        }

        /** Waits for the next turn to be decided; null where all games are over. */
        private synchronized Turn next() throws ModiarException {
            while (asked.isEmpty() && !isFinished() && failure == null && !closed) {
                try {
                    wait();
                } catch (InterruptedException error) {
                    Thread.currentThread().interrupt();
                    return null;
                }
            }
            if (failure != null) {
                throw failure;
            }
            return asked.poll();
        }

        /** The exit status of a program once {@link #next} found no more turns. */
        private synchronized int status() {
            return leaving ? INTERRUPTED : isFinished() ? DONE : COULD_NOT;
        }

        private synchronized void answer(Turn turn, ClientMessage answer) {
            Game game = games.get(turn.game());
            if (game == null || game.turn != turn || leaving) {
                return; // it is over meanwhile, or was asked anew
            }
            if (game.answer != null && answer instanceof ClientMessage.Move) {
                throw new IllegalStateException("this turn was answered already: " + turn);
            }
            game.answer = answer;
            send(answer);
        }

        /** Ctrl-C: takes the seek back, resigns what is being played and says bye; the results are still told. */
        private void leave() {
            synchronized (this) {
                leaving = true;
                asked.clear();
                if (!welcomed) {
                    closing = true;
                    hangUp();
                } else if (pool == null) {
                    giveUp();
                } else {
                    sought = Sought.SEEKING;
                    send(new ClientMessage.Unseek(pool, null)); // no game starts after its answer
                }
            }
            awaitUntil(LEAVE_MS, () -> closed);
        }

        /** Waits until it is so, but no longer than this. */
        private synchronized void awaitUntil(long ms, BooleanSupplier so) {
            long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
            try {
                for (long left = ms; left > 0 && !so.getAsBoolean(); left = (until - System.nanoTime()) / 1_000_000) {
                    wait(left);
                }
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
            }
        }

        // The life of its connections.

        /** Connects, and waits until the server has let the bot in. */
        private void open() throws ModiarException {
            Link first;
            try {
                first = Link.open(server, timer);
            } catch (IOException error) {
                closed = true;
                throw new ConnectError(server, words(error), error);
            }
            daemon("modiar", () -> live(first)).start();
            synchronized (this) {
                while (!known && failure == null && !closed) {
                    try {
                        wait();
                    } catch (InterruptedException error) {
                        Thread.currentThread().interrupt();
                        throw new ConnectError(server, "the thread was interrupted", error);
                    }
                }
                if (failure != null) {
                    throw failure;
                }
            }
        }

        private void live(Link first) {
            try {
                String why = null;
                for (Link next = first; next != null; next = comeBack(why)) {
                    greet(next);
                    why = converse(next);
                    lost(why);
                }
            } finally {
                synchronized (this) {
                    closed = true;
                    notifyAll();
                }
            }
        }

        private synchronized void greet(Link next) {
            link = next;
            if (closing) {
                hangUp();
            }
            next.send(new ClientMessage.Hello(PROTOCOL, name, Secret.of(settings.token), null, resume, CLIENT, settings.version,
                settings.games, null, HELLO));
            timer.schedule(() -> hangUpUnwelcomed(next), WELCOME_MS, TimeUnit.MILLISECONDS);
        }

        private synchronized void hangUpUnwelcomed(Link then) {
            if (link == then && !welcomed) {
                LOG.log(Level.WARNING, server + " says no welcome");
                hangUp();
            }
        }

        /** Hears the server out; returns why it says no more. */
        private String converse(Link link) {
            Decoder decoder = new Decoder();
            byte[] bytes = new byte[LINE_BYTES];
            try {
                for (int count = link.read(bytes); count > 0; count = link.read(bytes)) {
                    long heard = System.nanoTime();
                    if (bytes[0] == TLS_ALERT && server.tls() == null) {
                        return "the port may speak TLS; set MODIAR_TLS=1";
                    }
                    for (ServerMessage message : decoder.feed(bytes, count)) {
                        hear(message, heard);
                    }
                }
                return "the server closed it" + (known ? "" : " without a welcome: MODIAR_PORT may be no port for bots");
            } catch (IOException error) {
                return words(error);
            } catch (ProtocolError error) {
                return error.getMessage();
            } finally {
                link.close();
            }
        }

        private synchronized void lost(String why) {
            if (moved || welcomed && System.nanoTime() - since >= HELD_NANOS) {
                pauseMs = FIRST_PAUSE_MS;
            }
            link = null;
            welcomed = false;
            moved = false;
            draining = false;
            if (sought == Sought.SEEKING || sought == Sought.PAUSED) {
                sought = Sought.NOTHING; // a seek ends with its connection, games do not
            }
            if (!known && !closing && !leaving) {
                fail(new ConnectError(server, why, null)); // the settings are wrong: waiting does not mend them
            }
        }

        /** Tries until there is a connection again; null where there is nothing to come back for. */
        private Link comeBack(String why) {
            String reason = why;
            while (pause(reason)) {
                try {
                    return Link.open(server, timer);
                } catch (IOException error) {
                    reason = words(error);
                }
            }
            return null;
        }

        /** Waits before a try; false where none is to be made. */
        private synchronized boolean pause(String why) {
            if (!closing && !leaving && games.isEmpty() && tries == MOST_TRIES) {
                fail(new ConnectError(server, "it did not come back in " + tries + " tries: " + why, null));
            }
            if (closing || leaving) {
                return false;
            }
            tries++;
            long ms = ThreadLocalRandom.current().nextLong(pauseMs + 1);
            LOG.log(Level.INFO, "no connection to " + server + ": " + why + "; try " + tries + " in " + ms + " ms");
            pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS);
            awaitUntil(ms, () -> closing || leaving);
            return !closing && !leaving;
        }

        private void send(ClientMessage message) {
            if (welcomed) { // before it the server hears nothing but hello, and asks again for what it misses
                link.send(message);
            }
        }

        private void later(long ms, Runnable task) {
            Link then = link;
            timer.schedule(() -> {
                synchronized (this) {
                    if (link == then) {
                        task.run();
                    }
                }
            }, ms, TimeUnit.MILLISECONDS);
        }

        private void hangUp() {
            if (link != null) {
                link.close();
            }
        }

        private void sayBye() {
            if (!closing) {
                closing = true;
                send(new ClientMessage.Bye(null));
                notifyAll();
            }
        }

        private void fail(ModiarException error) {
            failure = failure == null ? error : failure;
            sayBye();
            notifyAll();
        }

        // What it hears.

        private synchronized void hear(ServerMessage message, long heard) {
            if (message instanceof ServerMessage.Welcome welcome) {
                welcome(welcome);
            } else if (message instanceof ServerMessage.Error error) {
                error(error);
            } else if (message instanceof ServerMessage.Goodbye goodbye) {
                goodbye(goodbye);
            } else if (message instanceof ServerMessage.Notice notice) {
                LOG.log(Level.INFO, "notice " + notice.code() + ": " + notice.message());
                draining |= notice.code().equals("draining");
            } else {
                play(message, heard);
            }
        }

        private void play(ServerMessage message, long heard) {
            if (message instanceof ServerMessage.Seeking seeking) {
                LOG.log(Level.INFO, "in " + seeking.pool() + ": " + (seeking.reason() == null ? "seeking" : seeking.reason()));
            } else if (message instanceof ServerMessage.SeekEnded end) {
                seekEnded(end);
            } else if (message instanceof ServerMessage.Started started && started.side() != null) {
                started(started);
            } else if (message instanceof ServerMessage.Turn turn) {
                turn(turn, heard);
            } else if (message instanceof ServerMessage.Ended end) {
                ended(end);
                goOn();
            }
        }

        private void welcome(ServerMessage.Welcome welcome) {
            welcomed = true;
            since = System.nanoTime();
            name = welcome.bot().name(); // who comes back without it is somebody else
            resume = welcome.resume();
            tries = 0;
            refusals = 0;
            LOG.log(Level.INFO, (known ? "back as " : "playing as ") + name + " on " + welcome.server());
            for (ServerMessage.Ended end : welcome.missed()) {
                if (known) {
                    ended(end);
                } else {
                    remember(end.game()); // it ended before this program began
                }
            }
            known = true;
            notifyAll();
            games.keySet().retainAll(welcome.games());
            asked.removeIf(turn -> !games.containsKey(turn.game()));
            welcome.games().forEach(id -> games.computeIfAbsent(id, game -> new Game()));
            if (closing) {
                send(new ClientMessage.Bye(null));
            }
            goOn();
        }

        private void started(ServerMessage.Started started) {
            games.computeIfAbsent(started.game(), id -> new Game()).started = started;
            String opponent = (started.side() == Side.SOUTH ? started.north() : started.south()).name();
            LOG.log(Level.INFO, (started.resumed() ? "back in game " : "in game ") + started.game() + " as " + started.side()
                    + " against " + opponent + ", pool " + started.pool());
        }

        private void turn(ServerMessage.Turn turn, long heard) {
            if (turn.pits().size() != Position.PITS || turn.legal().isEmpty()) {
                LOG.log(Level.WARNING, "skipped a turn of " + turn.game() + ": it has six pits, and one of them is legal");
                return;
            }
            Game game = games.computeIfAbsent(turn.game(), id -> new Game());
            if (game.turn == null || game.turn.ply() != turn.ply()) {
                moved |= game.answer != null;
                ask(game, new Turn(this, turn, game.started, heard));
            } else if (game.answer != null) {
                send(game.answer); // the link broke around it: the same again, and once is played
            }
        }

        private void ask(Game game, Turn turn) {
            asked.remove(game.turn);
            game.turn = turn;
            game.answer = null;
            game.repeats = 0;
            if (!leaving) {
                asked.add(turn);
                notifyAll();
            }
        }

        private void ended(ServerMessage.Ended end) {
            Game game = games.remove(end.game());
            moved |= game != null && game.answer != null;
            asked.removeIf(turn -> turn.game().equals(end.game()));
            if (!remember(end.game())) {
                return; // it was told before
            }
            if (!end.result().equals("none")) { // a seek does not count these either
                played++;
            }
            Optional<Side> side = Optional.ofNullable(game).map(known -> known.started).map(ServerMessage.Started::side);
            try {
                settings.ended.accept(new Ended(end.game(), end.result(), end.termination(), end.score(), side,
                    Optional.ofNullable(end.rating()), Optional.ofNullable(end.detail())));
            } catch (RuntimeException error) {
                LOG.log(Level.ERROR, "ended threw at " + end.game(), error);
            }
        }

        /** False where the end was told before. */
        private boolean remember(String game) {
            if (ends.size() == MOST_ENDS) {
                ends.remove(ends.iterator().next());
            }
            return ends.add(game);
        }

        private void seekEnded(ServerMessage.SeekEnded end) {
            if (leaving) {
                giveUp();
            } else if (end.reason().equals("draining")) {
                LOG.log(Level.INFO, "the server stops: waiting for it to come back");
                sought = Sought.NOTHING;
                draining = true;
            } else if (end.reason().equals("cancelled")) {
                sought = Sought.CANCELLED;
                notifyAll();
            } else if (isEnough()) {
                sought = Sought.NOTHING;
                notifyAll();
            } else { // penalised, a reason of a newer server, or not all is played
                long until = end.untilMs() == null ? 0 : end.untilMs();
                long ms = Math.max(0, until - System.currentTimeMillis()) + SECOND_MS;
                LOG.log(Level.WARNING, "no games for " + ms / 1000 + " s, " + end.reason() + ": " + end.message());
                seekLater(ms);
            }
        }

        private void seekLater(long ms) {
            sought = Sought.PAUSED;
            later(ms, () -> {
                sought = Sought.NOTHING;
                goOn();
            });
        }

        private void giveUp() {
            sought = Sought.CANCELLED;
            games.keySet().forEach(game -> send(new ClientMessage.Resign(game, null)));
            byeWhenFree();
        }

        /** Where nothing is played and nothing sought: seeks what is left, or tells that all are over. */
        private void goOn() {
            if (leaving) {
                byeWhenFree();
            } else if (isFinished()) {
                notifyAll();
            } else if (welcomed && !draining && pool != null && games.isEmpty() && sought == Sought.NOTHING) {
                sought = Sought.SEEKING;
                send(new ClientMessage.Seek(pool, wanted == 0 ? 0 : wanted - played, SEEK));
            }
        }

        private boolean isFinished() {
            return pool != null && games.isEmpty() && (sought == Sought.CANCELLED || sought == Sought.NOTHING && isEnough());
        }

        private boolean isEnough() {
            return wanted > 0 && played >= wanted;
        }

        private void error(ServerMessage.Error error) {
            LOG.log(Level.WARNING, "error " + error.code() + ": " + error.message());
            if (!welcomed) {
                refused(error);
            } else if (SEEK.equals(error.ref())) {
                seekRefused(error);
            } else if (error.game() != null && games.containsKey(error.game())) {
                moveRefused(games.get(error.game()), error);
            }
        }

        private void refused(ServerMessage.Error error) {
            if (AuthError.CODES.contains(error.code())) {
                unknown(new AuthError(error));
            } else if (!known || REFUSED.contains(error.code())) {
                fail(new ProtocolError(error));
            }
            hangUp();
        }

        /** The server does not know this bot, or not any more. */
        private void unknown(AuthError error) {
            if (!known || ++refusals == 2) {
                fail(error);
            } else if (resume != null && games.isEmpty()) {
                name = null; // a new guest: nothing was running
                resume = null;
            }
        }

        private void seekRefused(ServerMessage.Error error) {
            switch (error.code()) {
                case ErrorCode.ALREADY_SEEKING -> sought = Sought.SEEKING;
                case ErrorCode.DRAINING, ErrorCode.TOO_MANY_CONNECTIONS -> hangUp();
                default -> {
                    if (REFUSED.contains(error.code())) {
                        fail(new ProtocolError(error));
                    } else {
                        seekLater(SECOND_MS);
                    }
                }
            }
        }

        private void moveRefused(Game game, ServerMessage.Error error) {
            ClientMessage answer = game.answer;
            if (error.code().equals(ErrorCode.ILLEGAL_MOVE) && error.legal() != null && answer instanceof ClientMessage.Move) {
                ask(game, game.turn.again(error.legal())); // it is forgiven, and no turn is told again
            } else if (error.code().equals(ErrorCode.RATE_LIMITED) && answer != null && game.repeats++ < MOST_REPEATS) {
                later(REPEAT_MS, () -> {
                    if (game.answer == answer) {
                        send(answer);
                    }
                });
            }
        }

        private void goodbye(ServerMessage.Goodbye goodbye) {
            if (!goodbye.reason().equals("bye")) {
                LOG.log(Level.WARNING, "goodbye " + goodbye.reason() + ": " + goodbye.message());
            }
            if (!known || FOR_GOOD.contains(goodbye.reason())) {
                fail(new ProtocolError(goodbye.reason(), goodbye.message()));
            }
            hangUp();
        }

        private void byeWhenFree() {
            if (games.isEmpty() && sought != Sought.SEEKING) {
                sayBye();
            }
        }
    }

    // ---- Its connection -----------------------------------------------------------------------------------------------------

    /** One connection to the server. It writes in a thread of its own; what goes wrong there closes it, and {@code read} tells. */
    private static final class Link {
        private static final int CONNECT_MS = 10_000;
        private static final int WRITE_MS = 10_000;
        /** Lines that wait to be written. A bot says little more than a line for each turn. */
        private static final int MOST_LINES = 1024;

        /** The TCP one, which closes at once; an encrypted one would wait for its peer. */
        private final Socket tcp;
        private final InputStream in;
        private final OutputStream out;
        private final ScheduledThreadPoolExecutor timer;
        private final BlockingQueue<byte[]> lines = new ArrayBlockingQueue<>(MOST_LINES);
        private final Thread writer = Client.daemon("modiar-writer", this::write);

        private Link(Socket tcp, Socket spoken, ScheduledThreadPoolExecutor timer) throws IOException {
            this.tcp = tcp;
            this.in = spoken.getInputStream();
            this.out = spoken.getOutputStream();
            this.timer = timer;
        }

        static Link open(Server server, ScheduledThreadPoolExecutor timer) throws IOException {
            IOException failed = null;
            for (InetAddress address : InetAddress.getAllByName(server.host())) {
                Socket tcp = new Socket();
                try {
                    tcp.connect(new InetSocketAddress(address, server.port()), CONNECT_MS);
                    tcp.setTcpNoDelay(true); // a move is one small packet, and the own clock runs
                    tcp.setKeepAlive(true);
                    Link link = new Link(tcp, server.tls() == null ? tcp : encrypted(tcp, server), timer);
                    link.writer.start();
                    return link;
                } catch (IOException error) {
                    tcp.close();
                    failed = error;
                }
            }
            throw failed;
        }

        private static Socket encrypted(Socket tcp, Server server) throws IOException {
            SSLSocket tls = (SSLSocket) server.tls().getSocketFactory().createSocket(tcp, server.host(), server.port(), true);
            SSLParameters parameters = tls.getSSLParameters();
            parameters.setEndpointIdentificationAlgorithm("HTTPS"); // the certificate must have the host's name
            tls.setSSLParameters(parameters);
            tcp.setSoTimeout(CONNECT_MS);
            tls.startHandshake();
            tcp.setSoTimeout(0);
            return tls;
        }

        int read(byte[] bytes) throws IOException {
            return in.read(bytes);
        }

        void send(ClientMessage message) {
            if (!lines.offer(encode(message))) {
                close();
            }
        }

        private void write() {
            try {
                while (true) {
                    byte[] line = lines.take();
                    Future<?> alarm = timer.schedule(this::close, WRITE_MS, TimeUnit.MILLISECONDS);
                    out.write(line);
                    out.flush();
                    alarm.cancel(false);
                }
            } catch (IOException | InterruptedException | RejectedExecutionException error) {
                close();
            }
        }

        void close() {
            writer.interrupt();
            try {
                tcp.close();
            } catch (IOException error) {
                LOG.log(Level.DEBUG, "closing", error);
            }
        }
    }

    /** What is wrong with a connection, in words. */
    private static String words(IOException error) {
        if (error instanceof UnknownHostException) {
            return "unknown host";
        }
        String said = error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
        boolean plain = error instanceof SSLException && said.startsWith("Unsupported or unrecognized SSL message");
        return plain ? "the port speaks no TLS; unset MODIAR_TLS and MODIAR_CA" : said;
    }
}
