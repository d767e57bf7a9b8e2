import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** What the driver does not reach: a client against a server that plays a part. Exit status 1 if a test fails. */
public final class Tests {
    private static final String G = "g0123456789abcdef0123456789abcdef";

    private Tests() {}

    private interface Test {
        void run() throws Exception;
    }

    public static void main(String[] arguments) {
        Map<String, Test> tests = new LinkedHashMap<>();
        tests.put("a turn that comes again gets the same pit, and choose is asked once", Tests::sameAgain);
        tests.put("a turn that comes again while the bot thinks is answered once", Tests::whileItThinks);
        tests.put("an end that is told twice is counted once", Tests::toldTwice);
        tests.put("what was missed before the program began is not its own", Tests::missedBefore);
        tests.put("a game of which nobody speaks any more is forgotten", Tests::forgotten);
        tests.put("a forgiven pit is chosen again", Tests::forgiven);
        tests.put("a limited move is sent again", Tests::limited);
        tests.put("a bot that throws loses its game, and plays on", Tests::throwing);
        tests.put("a strict bot that throws ends", Tests::strict);
        tests.put("an illegal pit is not sent", Tests::illegal);
        tests.put("a raw pit is sent", Tests::raw);
        tests.put("pieces, many at once, CRLF, unknown fields and types do no harm", Tests::anyPackets);
        tests.put("a guest whom nobody knows any more is a new one", Tests::newGuest);
        tests.put("a wrong token is an error at once, after a return at the second time", Tests::wrongToken);
        tests.put("who is replaced stays away", Tests::replaced);
        tests.put("an unknown pool is an error", Tests::unknownPool);
        tests.put("who has to pause seeks again", Tests::penalised);
        tests.put("who is refused for now comes back", Tests::refusedForNow);
        tests.put("a draining server is waited for", Tests::draining);
        tests.put("an ended seek ends the loop", Tests::seekDone);
        tests.put("several games go on at once", Tests::severalGames);
        tests.put("a wrong setting is named", Tests::settings);
        tests.put("a token is not printed", Tests::secrets);
        int failed = 0;
        for (Map.Entry<String, Test> test : tests.entrySet()) {
            try {
                test.getValue().run();
                System.out.println("ok   " + test.getKey());
            } catch (Exception | AssertionError error) {
                failed++;
                System.out.println("FAIL " + test.getKey());
                error.printStackTrace(System.out);
            }
        }
        System.out.println(tests.size() - failed + " of " + tests.size() + " good");
        System.exit(failed == 0 ? 0 : 1);
    }

    // ---- The reconnect machine ----------------------------------------------------------------------------------------------

    private static void sameAgain() throws Exception {
        try (Part part = new Part(turn -> 1, 1)) {
            part.letIn();
            part.seek();
            part.say(Part.started(G), Part.turn(G, 1));
            part.expect(Part.move(G, 1, 1));
            part.cut();
            part.back(G);
            part.say(Part.turn(G, 1));
            part.expect(Part.move(G, 1, 1));
            part.say(Part.turn(G, 3));
            part.expect(Part.move(G, 1, 3));
            part.finish(G);
            Part.equal(part.chosen, List.of(G + " 1", G + " 3"));
        }
    }

    private static void whileItThinks() throws Exception {
        CompletableFuture<Integer> thought = new CompletableFuture<>();
        try (Part part = new Part(turn -> thought.get(), 1)) {
            part.letIn();
            part.seek();
            part.say(Part.started(G), Part.turn(G, 1));
            part.cut();
            part.back(G);
            part.say(Part.turn(G, 1));
            thought.complete(2);
            part.expect(Part.move(G, 2, 1));
            // Where the thought was quicker than the turn, that is one that comes again.
            part.again(Part.move(G, 2, 1));
            part.finish(G);
            Part.equal(part.chosen, List.of(G + " 1"));
        }
    }

    private static void toldTwice() throws Exception {
        try (Part part = new Part(turn -> 0, 2)) {
            part.letIn();
            part.seek();
            part.say(Part.started(G), Part.ended(G, "south"));
            part.cut();
            part.accept();
            part.expect("hello");
            part.say(Part.welcome("", Part.ended(G, "south")));
            part.expect("{\"type\":\"seek\",\"pool\":\"practice\",\"games\":1,\"ref\":\"seek\"}");
            String other = G.replace('0', 'f');
            part.say(Part.started(other), Part.ended(other, "none"), Part.ended(other, "none"));
            String third = G.replace('0', 'e');
            part.say(Part.started(third));
            part.finish(third);
            Part.equal(part.ends, List.of(G, other, third));
        }
    }

    private static void missedBefore() throws Exception {
        try (Part part = new Part(turn -> 0, 1)) {
            part.accept();
            part.expect("hello");
            part.say(Part.welcome("", Part.ended(G, "south")));
            part.seek();
            String other = G.replace('0', 'f');
            part.say(Part.started(other));
            part.finish(other);
            Part.equal(part.ends, List.of(other));
        }
    }

    private static void forgotten() throws Exception {
        try (Part part = new Part(turn -> 0, 1)) {
            part.letIn();
            part.seek();
            part.say(Part.started(G), Part.turn(G, 1));
            part.expect(Part.move(G, 0, 1));
            part.cut();
            part.letIn();
            part.seek();
            String other = G.replace('0', 'f');
            part.say(Part.started(other));
            part.finish(other);
        }
    }

    private static void newGuest() throws Exception {
        try (Part part = new Part(turn -> 0, 1)) {
            part.letIn();
            part.seek();
            part.cut();
            part.accept();
            Part.contains(part.expect("hello"), "\"name\":\"Loubna\",\"resume\":\"" + "r".repeat(16) + "\"");
            part.say(Part.error("name_taken", "\"ref\":\"hello\""));
            part.accept();
            Part.check(!part.expect("hello").contains("resume"), "a new guest has nothing to resume");
            part.say(Part.welcome("", ""));
            part.seek();
            part.say(Part.started(G));
            part.finish(G);
        }
    }

    private static void wrongToken() throws Exception {
        try (Part part = new Part(turn -> 0, 1, new Modiar.Settings().name("Tanja").token("t".repeat(16)))) {
            part.accept();
            Part.contains(part.expect("hello"), "\"token\":\"tttttttttttttttt\"");
            part.say(Part.error("auth_failed", "\"ref\":\"hello\""));
            Part.equal(part.status(), Modiar.COULD_NOT);
        }
        try (Part part = new Part(turn -> 0, 1, new Modiar.Settings().name("Tanja").token("t".repeat(16)))) {
            part.accept();
            part.expect("hello");
            part.say(Part.welcome("", "").replace(",\"resume\":\"rrrrrrrrrrrrrrrr\"", ""));
            part.seek();
            part.cut();
            for (int i = 0; i < 2; i++) {
                part.accept();
                part.expect("hello");
                part.say(Part.error("auth_failed", "\"ref\":\"hello\""));
            }
            Part.equal(part.status(), Modiar.COULD_NOT);
        }
    }

    private static void replaced() throws Exception {
        try (Part part = new Part(turn -> 0, 1)) {
            part.letIn();
            part.seek();
            part.say("{\"type\":\"goodbye\",\"reason\":\"replaced\",\"message\":\"a newer connection\"}");
            part.cut();
            Part.equal(part.status(), Modiar.COULD_NOT);
        }
    }

    private static void refusedForNow() throws Exception {
        try (Part part = new Part(turn -> 0, 1)) {
            part.letIn();
            part.cut();
            part.accept();
            part.say(Part.error("too_many_connections", "\"x\":0").replace("false", "true"));
            part.cut();
            part.letIn();
            part.expect("seek");
            part.say(Part.error("draining", "\"ref\":\"seek\""));
            part.letIn();
            part.expect("seek");
            part.say(Part.error("rate_limited", "\"ref\":\"seek\""));
            part.seek();
            part.say(Part.started(G));
            part.finish(G);
        }
    }

    private static void draining() throws Exception {
        try (Part part = new Part(turn -> 0, 1)) {
            part.letIn();
            part.seek();
            part.say("{\"type\":\"notice\",\"code\":\"draining\",\"message\":\"the server stops\"}",
                "{\"type\":\"seek_ended\",\"pool\":\"practice\",\"reason\":\"draining\"}",
                "{\"type\":\"goodbye\",\"reason\":\"draining\",\"message\":\"the server stops\"}");
            part.cut();
            part.letIn();
            part.seek();
            part.say(Part.started(G));
            part.finish(G);
        }
    }

    // ---- What a bot does, and what the server says of it ----------------------------------------------------------------------

    private static void forgiven() throws Exception {
        List<List<Integer>> legal = Collections.synchronizedList(new ArrayList<>());
        try (Part part = new Part(turn -> {
            legal.add(turn.legal());
            return turn.legal().get(0);
        }, 1)) {
            part.letIn();
            part.seek();
            part.say(Part.started(G), Part.turn(G, 1));
            part.expect(Part.move(G, 0, 1));
            part.say(Part.error("illegal_move", "\"game\":\"" + G + "\",\"clause\":\"rules.feed.must\",\"legal\":[2]"));
            part.expect(Part.move(G, 2, 1));
            part.say(Part.error("duplicate", "\"game\":\"" + G + "\""), Part.error("not_your_turn", "\"game\":\"" + G + "\""));
            part.finish(G);
            Part.equal(legal, List.of(List.of(0, 1, 2), List.of(2)));
        }
    }

    private static void limited() throws Exception {
        try (Part part = new Part(turn -> 0, 1)) {
            part.letIn();
            part.seek();
            part.say(Part.started(G), Part.turn(G, 1));
            for (int i = 0; i < 5; i++) {
                part.expect(Part.move(G, 0, 1));
                part.say(Part.error("rate_limited", "\"game\":\"" + G + "\""));
            }
            part.expect(Part.move(G, 0, 1));
            part.finish(G);
            Part.equal(part.chosen, List.of(G + " 1"));
        }
    }

    private static void throwing() throws Exception {
        try (Part part = new Part(turn -> {
            if (turn.ply() == 1) {
                throw new IOException("a bot may throw anything");
            }
            return 0;
        }, 2)) {
            part.letIn();
            part.seek();
            part.say(Part.started(G), Part.turn(G, 1));
            part.expect("{\"type\":\"resign\",\"game\":\"" + G + "\"}");
            String other = G.replace('0', 'f');
            part.say(Part.ended(G, "north"), Part.started(other), Part.turn(other, 3));
            part.expect(Part.move(other, 0, 3));
            part.finish(other);
        }
    }

    private static void strict() throws Exception {
        try (Part part = new Part(turn -> {
            throw new StackOverflowError();
        }, 1, new Modiar.Settings().strict(true))) {
            part.letIn();
            part.seek();
            part.say(Part.started(G), Part.turn(G, 1));
            part.expect("resign");
            part.expect("bye");
            part.say("{\"type\":\"goodbye\",\"reason\":\"bye\",\"message\":\"goodbye\"}");
            Part.equal(part.status(), Modiar.COULD_NOT);
        }
    }

    private static void illegal() throws Exception {
        try (Part part = new Part(turn -> 3, 1)) {
            part.letIn();
            part.seek();
            part.say(Part.started(G), Part.turn(G, 1));
            part.expect("resign");
            part.finish(G);
        }
    }

    private static void raw() throws Exception {
        try (Part part = new Part(turn -> {
            Part.equal(turn.opponent().orElseThrow(), "Tanja");
            Part.check(turn.left().toMillis() > 50_000 && turn.left().toMillis() <= 60_000, "the deadline is a minute ahead");
            try {
                turn.play(3, false);
                throw new AssertionError("pit 3 is the opponent's");
            } catch (Modiar.IllegalMove error) {
                Part.equal(error.clause(), "rules.move.own-row");
            }
            turn.play(3, true);
            return 0;
        }, 1)) {
            part.letIn();
            part.seek();
            part.say(Part.started(G), Part.turn(G, 1));
            part.expect(Part.move(G, 3, 1));
            part.expect("resign"); // the turn was answered twice
            part.finish(G);
        }
    }

    private static void unknownPool() throws Exception {
        try (Part part = new Part(turn -> 0, 1)) {
            part.letIn();
            part.expect("seek");
            part.say(Part.error("unknown_pool", "\"ref\":\"seek\""));
            part.expect("bye");
            part.cut();
            Part.equal(part.status(), Modiar.COULD_NOT);
        }
    }

    private static void penalised() throws Exception {
        try (Part part = new Part(turn -> 0, 1)) {
            part.letIn();
            part.seek();
            part.say("{\"type\":\"seek_ended\",\"pool\":\"practice\",\"reason\":\"penalised\",\"until_ms\":1,"
                + "\"message\":\"no first move\"}");
            part.seek();
            part.say(Part.started(G));
            part.finish(G);
        }
    }

    private static void seekDone() throws Exception {
        try (Part part = new Part(turn -> 0, 0)) {
            part.letIn();
            part.expect("{\"type\":\"seek\",\"pool\":\"practice\",\"games\":0,\"ref\":\"seek\"}");
            part.say("{\"type\":\"seek_ended\",\"pool\":\"practice\",\"reason\":\"cancelled\"}");
            part.expect("bye");
            part.say("{\"type\":\"goodbye\",\"reason\":\"bye\",\"message\":\"goodbye\"}");
            Part.equal(part.status(), Modiar.DONE);
        }
    }

    private static void severalGames() throws Exception {
        try (Part part = new Part(turn -> 0, 2, new Modiar.Settings().games(2))) {
            String other = G.replace('0', 'f');
            part.letIn();
            part.seek();
            part.say(Part.started(G), Part.started(other), Part.turn(other, 1), Part.turn(G, 1));
            part.expect(Part.move(other, 0, 1));
            part.expect(Part.move(G, 0, 1));
            part.say(Part.ended(G, "south"));
            part.cut();
            part.back(other);
            part.say(Part.turn(other, 3));
            part.expect(Part.move(other, 0, 3));
            part.finish(other);
        }
    }

    private static void anyPackets() throws Exception {
        try (Part part = new Part(turn -> 0, 1)) {
            part.letIn();
            part.seek();
            part.bytes("{\"type\":\"omen\",\"of\":[{}]}\r\n\r\n[1]\nno JSON\n" + Part.started(G) + "\r\n");
            String turn = Part.turn(G, 1).replace("\"ply\":1", "\"ply\":1,\"novel\":{\"big\":123456789012345678901234567890}") + "\n";
            for (char each : turn.toCharArray()) {
                part.bytes(String.valueOf(each));
            }
            part.expect(Part.move(G, 0, 1));
            part.finish(G);
        }
    }

    // ---- Settings -------------------------------------------------------------------------------------------------------------

    private static void settings() throws Exception {
        try {
            Modiar.connect(new Modiar.Settings().port(0));
            throw new AssertionError("there is no port 0");
        } catch (Modiar.SettingError error) {
            Part.equal(error.getMessage(), "MODIAR_PORT is '0': set it to a number from 1 to 65535");
        }
        try {
            Modiar.connect(new Modiar.Settings().host("127.0.0.1").port(1));
            throw new AssertionError("nobody listens there");
        } catch (Modiar.ConnectError error) {
            Part.contains(error.getMessage(), "cannot connect to 127.0.0.1:1: ");
        }
    }

    private static void secrets() {
        Modiar.Secret secret = new Modiar.Secret("t0ken");
        Modiar.ClientMessage hello =
            new Modiar.ClientMessage.Hello(1, null, secret, null, secret, null, null, null, null, null);
        Part.check(!hello.toString().contains("t0ken"), "hello tells its token");
        Part.contains(new String(Modiar.encode(hello), StandardCharsets.UTF_8), "\"token\":\"t0ken\"");
    }
}
