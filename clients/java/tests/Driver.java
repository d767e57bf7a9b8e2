import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** Answers questions of the vectors: JSON, a line each, from stdin to stdout. */
public final class Driver {
    private Driver() {}

    public static void main(String[] arguments) throws Exception {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            byte[] answer = Modiar.Json.write(answer(Modiar.Json.object(Modiar.Json.read(line)))).getBytes(StandardCharsets.UTF_8);
            System.out.write(answer);
            System.out.write('\n');
            System.out.flush();
        }
    }

    private static Map<String, Object> answer(Map<String, Object> question) throws Exception {
        try {
            return switch ((String) question.get("op")) {
                case "legal" -> Map.of("legal", position(question).legal());
                case "parse" -> parsed(position(question));
                case "play" -> played(position(question).play(number(question, "pit")));
                case "score" -> Map.of("score", Modiar.Codec.toJson(position(question).score()));
                case "greedy" -> Map.of("pit", position(question).greedy());
                case "minimax" -> minimax(position(question), number(question, "depth"));
                case "decode" -> decoded((List<?>) question.get("chunks"));
                case "encode" -> encoded(Modiar.Json.object(question.get("message")));
                default -> Map.of("error", "unknown op");
            };
        } catch (Modiar.IllegalMove error) {
            return Map.of("error", error.clause());
        } catch (Modiar.IllegalPosition error) {
            return Map.of("error", error.clause());
        } catch (Modiar.ProtocolError error) {
            return Map.of("error", error.code());
        } catch (Modiar.Malformed error) {
            return Map.of("error", error.getMessage());
        }
    }

    private static Modiar.Position position(Map<String, Object> question) throws Modiar.IllegalPosition {
        return Modiar.Position.parse((String) question.get("position"));
    }

    private static int number(Map<String, Object> question, String field) {
        return ((Long) question.get(field)).intValue();
    }

    private static Map<String, Object> parsed(Modiar.Position position) {
        Map<String, Object> parts = Modiar.Codec.fields(position);
        parts.put("text", position.text());
        return parts;
    }

    private static Map<String, Object> played(Modiar.Played played) {
        return Map.of("after", played.after().text(), "taken", played.taken());
    }

    private static Map<String, Object> minimax(Modiar.Position position, int depth) {
        return Map.of("pit", position.minimax(depth), "value", position.value(depth));
    }

    private static Map<String, Object> decoded(List<?> chunks) throws Modiar.ProtocolError {
        Modiar.Decoder decoder = new Modiar.Decoder();
        List<Object> messages = new ArrayList<>();
        for (Object chunk : chunks) {
            for (Modiar.ServerMessage message : decoder.feed(HexFormat.of().parseHex((String) chunk))) {
                messages.add(Modiar.Codec.toJson(message));
            }
        }
        return Map.of("messages", messages);
    }

    private static Map<String, Object> encoded(Map<String, Object> message) throws Modiar.Malformed {
        Class<?> type = Modiar.Codec.typeOf(message, Modiar.ClientMessage.class);
        if (type == null) {
            return Map.of("error", "unknown type");
        }
        Modiar.ClientMessage read = (Modiar.ClientMessage) Modiar.Codec.fromJson(type, message);
        return Map.of("line", new String(Modiar.encode(read), StandardCharsets.UTF_8));
    }
}
