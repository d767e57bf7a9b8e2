/*
 * Answers questions about the rules and the codec: a JSON object a line on stdin, one on stdout for each, until the end.
 * It stands on the library's own reader and writer, and so is one unit with it.
 */
#include "../modiar.c"

struct chunks {
    int count;
    const char *at[1 << 16];
};

struct question {
    const char *op, *position;
    int64_t pit, depth;
    struct chunks chunks;
};

SHAPE(question, struct question, FIELD(struct question, op, TEXT), FIELD(struct question, position, TEXT),
      FIELD(struct question, pit, INTEGER), FIELD(struct question, depth, INTEGER),
      LIST(struct question, chunks, TEXTS, NULL, struct chunks));

static modiar_message message;

static void answer_error(const char *what)
{
    printf("{\"error\":\"%s\"}\n", what);
}

static void answer_parse(const modiar_position *position)
{
    const int *pits = position->pits;
    char text[MODIAR_POSITION_BYTES];

    printf("{\"pits\":[%d,%d,%d,%d,%d,%d],\"captured\":{\"south\":%d,\"north\":%d},\"side\":\"%s\",\"ply\":%" PRId64
           ",\"text\":\"%s\"}\n",
           pits[0], pits[1], pits[2], pits[3], pits[4], pits[5], position->captured[MODIAR_SOUTH],
           position->captured[MODIAR_NORTH], modiar_side_text(position->side), position->ply,
           modiar_position_text(position, text));
}

static void answer_legal(const modiar_position *position)
{
    int legal[MODIAR_LEGAL], count = modiar_position_legal(position, legal);

    printf("{\"legal\":[");
    for (int i = 0; i < count; i++)
        printf(i > 0 ? ",%d" : "%d", legal[i]);
    printf("]}\n");
}

static void answer_play(const modiar_position *position, int pit)
{
    modiar_position after;
    char text[MODIAR_POSITION_BYTES];
    int taken;
    const char *broken = modiar_position_play(position, pit, &after, &taken);

    if (broken != NULL)
        answer_error(broken);
    else
        printf("{\"after\":\"%s\",\"taken\":%d}\n", modiar_position_text(&after, text), taken);
}

static void answer_score(const modiar_position *position)
{
    int score[2];

    modiar_position_score(position, score);
    printf("{\"score\":{\"south\":%d,\"north\":%d}}\n", score[MODIAR_SOUTH], score[MODIAR_NORTH]);
}

static void answer_position(const struct question *asked)
{
    modiar_position position;
    const char *broken = modiar_position_parse(asked->position == NULL ? "" : asked->position, &position);
    int depth = asked->depth > 0 ? (int)asked->depth : 6;

    if (broken != NULL)
        answer_error(broken);
    else if (strcmp(asked->op, "parse") == 0)
        answer_parse(&position);
    else if (strcmp(asked->op, "legal") == 0)
        answer_legal(&position);
    else if (strcmp(asked->op, "play") == 0)
        answer_play(&position, (int)asked->pit);
    else if (strcmp(asked->op, "score") == 0)
        answer_score(&position);
    else if (strcmp(asked->op, "greedy") == 0)
        printf("{\"pit\":%d}\n", modiar_position_greedy(&position));
    else
        printf("{\"pit\":%d,\"value\":%d}\n", modiar_position_minimax(&position, depth),
               modiar_position_value(&position, depth));
}

/* A message again as JSON, without its newline. */
static void print_message(const char *before)
{
    static char line[8 * MODIAR_LINE_BYTES];
    size_t length = modiar_encode(&message, line, sizeof line);

    printf("%s%.*s", before, (int)length - 1, line);
}

static void answer_decode(const struct chunks *chunks)
{
    static modiar_decoder decoder;
    const char *before = "";

    memset(&decoder, 0, sizeof decoder);
    printf("{\"messages\":[");
    for (int i = 0; i < chunks->count && !decoder.too_long; i++) {
        char *hex = (char *)chunks->at[i];
        const char *bytes = hex;
        size_t size = strlen(hex) / 2;
        for (size_t at = 0; at < size; at++) /* in place */
            hex[at] = (char)(hex_digit((unsigned char)hex[2 * at]) << 4 | hex_digit((unsigned char)hex[2 * at + 1]));
        while (modiar_decoder_feed(&decoder, &bytes, &size, &message) != MODIAR_NOTHING && !decoder.too_long) {
            if (has_shape(message.type)) {
                print_message(before);
                before = ",";
            }
        }
    }
    printf(decoder.too_long ? "],\"error\":\"line_too_long\"}\n" : "]}\n");
}

/* `at` is the question's object; its message is a client's, or of any type. */
static void answer_encode(char *at)
{
    static char line[8 * MODIAR_LINE_BYTES], text[8 * MODIAR_LINE_BYTES];
    char *found = NULL, key[160];

    for (at = space(at + 1); *at != '}';) {
        char *value = space(space(skip_string(at)) + 1);
        if (strcmp(peek_text(at, key), "message") == 0)
            found = value;
        at = next(skip_value(value));
    }
    char *end = found == NULL ? NULL : skip_value(found);
    if (end != NULL)
        *end = '\0';
    size_t length = 0;
    if (end != NULL && has_shape(read_message(found, (size_t)(end - found), MODIAR_HELLO, &message)))
        length = modiar_encode(&message, line, MODIAR_CLIENT_BYTES + 1);
    if (length == 0) {
        answer_error("not a message");
        return;
    }
    struct writer writer = {text, text + sizeof text - 1, false};
    put_text(&writer, line);
    printf("{\"line\":%.*s}\n", (int)(writer.at - text), text);
}

static void answer(char *line, size_t length)
{
    static struct question asked;
    static const char *const of_positions[] = {"parse", "legal", "play", "score", "greedy", "minimax"};
    static char copy[1 << 20];
    struct text text = {(unsigned char *)line, (unsigned char *)line + length};
    const char *unknown = NULL;
    bool about_position = false;

    if (length >= sizeof copy || *line != '{' || !check_value(&text, 0) || text.at != text.end) {
        answer_error("not a question");
        return;
    }
    memcpy(copy, line, length + 1);
    clear(&question, &asked);
    read_object(copy, &question, &asked, &unknown);
    for (size_t i = 0; i < COUNT(of_positions); i++)
        about_position = about_position || (asked.op != NULL && strcmp(asked.op, of_positions[i]) == 0);
    if (about_position)
        answer_position(&asked);
    else if (asked.op != NULL && strcmp(asked.op, "decode") == 0)
        answer_decode(&asked.chunks);
    else if (asked.op != NULL && strcmp(asked.op, "encode") == 0)
        answer_encode(line);
    else
        answer_error("unknown op");
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;

    for (ssize_t length; (length = getline(&line, &size, stdin)) > 0; fflush(stdout)) {
        if (line[length - 1] == '\n')
            line[--length] = '\0';
        answer(line, (size_t)length);
    }
    free(line);
    return 0;
}
