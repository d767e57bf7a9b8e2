import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A server that plays one part, and the bot that runs against it. */
final class Part implements AutoCloseable {
    private static final int PATIENCE_MS = 20_000;

    private final ServerSocket server = new ServerSocket(0);
    private final CompletableFuture<Integer> status;
    private Socket peer;
    private BufferedReader lines;
    private OutputStream out;
    private String again;
    /** Game and ply of each turn that the bot was asked. */
    final List<String> chosen = Collections.synchronizedList(new ArrayList<>());
    /** Games in the order in which the bot was told of their ends. */
    final List<String> ends = Collections.synchronizedList(new ArrayList<>());

    Part(Modiar.Bot bot, int games) throws IOException {
        this(bot, games, new Modiar.Settings());
    }

    Part(Modiar.Bot bot, int games, Modiar.Settings settings) throws IOException {
        server.setSoTimeout(PATIENCE_MS);
        settings.host("127.0.0.1").port(server.getLocalPort()).ended(end -> ends.add(end.game()));
        Modiar.Bot noted = turn -> {
            chosen.add(turn.game() + " " + turn.ply());
            return bot.choose(turn);
        };
        status = CompletableFuture.supplyAsync(() -> Modiar.run(noted, "practice", games, settings));
    }

    void accept() throws IOException {
        peer = server.accept();
        peer.setSoTimeout(PATIENCE_MS);
        lines = new BufferedReader(new InputStreamReader(peer.getInputStream(), StandardCharsets.UTF_8));
        out = peer.getOutputStream();
    }

    void letIn() throws IOException {
        accept();
        contains(expect("hello"), "\"protocol\":1");
        say(welcome("", ""));
    }

    /** Lets the bot in again, to its game. */
    void back(String game) throws IOException {
        accept();
        contains(expect("hello"), "\"resume\"");
        say(welcome("\"" + game + "\"", ""), started(game));
    }

    void seek() throws IOException {
        expect("seek");
        say("{\"type\":\"seeking\",\"pool\":\"practice\",\"waiting\":1}");
    }

    /** Ends the game and the seek, and hears the bot out. */
    void finish(String game) throws Exception {
        say(ended(game, "south"), "{\"type\":\"seek_ended\",\"pool\":\"practice\",\"reason\":\"done\"}");
        expect("bye");
        say("{\"type\":\"goodbye\",\"reason\":\"bye\",\"message\":\"goodbye\"}");
        equal(status(), Modiar.DONE);
    }

    void say(String... messages) throws IOException {
        bytes(String.join("\n", messages) + "\n");
    }

    void bytes(String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    /** A line that may come more often from here on. */
    void again(String line) {
        again = line;
    }

    /** The next line, which is this one, or of this type. */
    String expect(String wanted) throws IOException {
        String line;
        do {
            line = lines.readLine();
        } while (line != null && line.equals(again));
        boolean whole = wanted.startsWith("{");
        check(line != null && (whole ? line.equals(wanted) : line.startsWith("{\"type\":\"" + wanted + "\"")),
            "expected " + wanted + ", read " + line);
        return line;
    }

    void cut() throws IOException {
        peer.close();
    }

    int status() throws Exception {
        return status.get(PATIENCE_MS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() throws IOException {
        if (peer != null) {
            peer.close();
        }
        server.close();
    }

    // ---- What it says ---------------------------------------------------------------------------------------------------------

    private static final String CLOCKS = "\"remaining_ms\":{\"south\":60000,\"north\":60000}";
    private static final String BOARD = "\"pits\":[7,7,7,7,7,7],\"captured\":{\"south\":0,\"north\":0}";

    static String welcome(String games, String missed) {
        return "{\"type\":\"welcome\",\"protocol\":1,\"server\":\"modiar/0.1.0\","
            + "\"bot\":{\"name\":\"Loubna\",\"guest\":true,\"ratings\":{}},"
            + "\"resume\":\"rrrrrrrrrrrrrrrr\",\"pools\":[],\"limits\":{\"line_bytes\":4096,\"messages_per_s\":20,\"games\":1},"
            + "\"games\":[" + games + "],\"missed\":[" + missed + "]}";
    }

    static String started(String game) {
        return "{\"type\":\"started\",\"game\":\"" + game + "\",\"pool\":\"practice\",\"rated\":false,\"side\":\"south\","
            + "\"south\":{\"name\":\"Loubna\",\"guest\":true},\"north\":{\"name\":\"Tanja\",\"guest\":false},"
            + "\"time\":{\"base_ms\":60000,\"increment_ms\":1000,\"grace_ms\":50},"
            + "\"rules\":{\"name\":\"modiar\",\"repetition\":3,\"quiet_plies\":200,\"majority\":false,\"illegal_moves\":3},"
            + "\"opening\":\"\",\"moves\":\"\",\"ply\":1,\"side_to_move\":\"south\"," + BOARD + "," + CLOCKS + ",\"resumed\":false}";
    }

    static String turn(String game, int ply) {
        return "{\"type\":\"turn\",\"game\":\"" + game + "\",\"ply\":" + ply + ",\"side\":\"south\"," + BOARD
            + ",\"legal\":[0,1,2]," + CLOCKS + "}";
    }

    static String ended(String game, String result) {
        return "{\"type\":\"ended\",\"game\":\"" + game + "\",\"result\":\"" + result + "\",\"termination\":\"resignation\","
            + "\"score\":{\"south\":0,\"north\":0},\"pits\":[7,7,7,7,7,7],\"ply\":1}";
    }

    static String error(String code, String fields) {
        return "{\"type\":\"error\",\"code\":\"" + code + "\",\"message\":\"it is so\",\"fatal\":false," + fields + "}";
    }

    static String move(String game, int pit, int ply) {
        return "{\"type\":\"move\",\"game\":\"" + game + "\",\"pit\":" + pit + ",\"ply\":" + ply + "}";
    }

    // ---- What must be so ------------------------------------------------------------------------------------------------------

    static void check(boolean good, String otherwise) {
        if (!good) {
            throw new AssertionError(otherwise);
        }
    }

    static void equal(Object is, Object wanted) {
        check(is.equals(wanted), "expected " + wanted + ", is " + is);
    }

    static void contains(String text, String part) {
        check(text.contains(part), "expected " + part + " in " + text);
    }
}
