//! Programs that do not keep to the dialogue: each is told clearly, and none is waited for without end.

use modiar_conformance::quiz::{Quiz, checks};
use modiar_conformance::{About, Report, Verdict};
use std::time::Duration;

/// Long enough for a right board on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);
/// For programs of which nothing comes.
const SHORT: Duration = Duration::from_secs(1);

/// What is told of a command.
pub fn quiz(command: &[&str], checks: Vec<&'static About>) -> Vec<Report> {
    asked(command, &checks, PATIENCE)
}

fn asked(command: &[&str], checks: &[&'static About], patience: Duration) -> Vec<Report> {
    let quiz = Quiz { command: command.iter().map(Into::into).collect(), patience };
    let mut reports = Vec::new();
    quiz.run(checks, |report| reports.push(report.clone())).unwrap();
    reports
}

/// The checks that the twin with these arguments fails, with what is told of them.
pub fn failed(arguments: &[&str]) -> Vec<(&'static str, String)> {
    let command = [&[env!("CARGO_BIN_EXE_twin"), "--rules"], arguments].concat();
    let reports = quiz(&command, checks().collect());
    assert!(!reports.iter().any(|report| matches!(report.verdict, Verdict::Skipped(_))), "{reports:#?}");
    let failed = reports.into_iter().filter(|report| report.verdict != Verdict::Ok);
    failed.map(|report| (report.about.name, report.to_string())).collect()
}

/// What a shell program brings about at its first question: that check fails, and nothing more is asked.
#[track_caller]
fn breaks_off(program: &str, words: &str, patience: Duration) {
    let all: Vec<&'static About> = checks().collect();
    let reports = asked(&["sh", "-c", program], &all, patience);
    let Verdict::Failed(fault) = &reports[0].verdict else { panic!("{program}: {}", reports[0]) };
    assert!(fault.came.contains(words), "{program}: {}", reports[0]);
    assert_eq!(fault.clause, "transport.object");
    let skipped = Verdict::Skipped("question 1 was not answered".to_owned());
    assert!(reports[1..].iter().all(|report| report.verdict == skipped), "{program}: {reports:#?}");
    assert!(reports[0].to_string().len() < 4000, "{program}: {}", reports[0]);
}

#[test]
fn what_is_no_answer_is_told() {
    breaks_off("read q; echo 'my move: 3'; cat", "no JSON object: my move: 3", PATIENCE);
    breaks_off("read q; echo '[0,1,2]'; cat", "no JSON object: [0,1,2]", PATIENCE);
    breaks_off("read q; echo; cat", "no JSON object: ", PATIENCE);
    breaks_off("read q; printf '\\377\\033[2J\\n'; cat", "no JSON object: \u{fffd}\\u{1b}[2J", PATIENCE);
    breaks_off("read q; echo '{\"legal\":[0'; cat", "no JSON object: {\"legal\":[0", PATIENCE);
}

#[test]
fn who_is_silent_is_not_waited_for_without_end() {
    breaks_off("cat > /dev/null", "nothing within 1 s", SHORT);
    breaks_off("read q; printf '{\"legal\":'; cat > /dev/null", "nothing within 1 s", SHORT);
}

#[test]
fn who_ends_before_the_answer_is_told_with_its_status() {
    breaks_off("read q; exit 7", "its end with status 7", PATIENCE);
    breaks_off("read q; kill -9 $$", "its end with status 137", PATIENCE);
    breaks_off("exec no-such-program-of-mine", "its end with status 127", PATIENCE);
    breaks_off("read q; exec >&-; cat > /dev/null", "the end of its stdout", PATIENCE);
}

#[test]
fn a_line_is_read_only_so_far() {
    breaks_off("read q; head -c 100000000 /dev/zero | tr '\\0' x; cat", "a line of more than 16384 bytes", PATIENCE);
    breaks_off("read q; yes '{' | tr -d '\\n'", "a line of more than 16384 bytes", PATIENCE);
    breaks_off("read q; head -c 5000 /dev/zero | tr '\\0' '['; echo; cat", "no JSON object: [[[", PATIENCE);
}

/// However many lines come that nobody asked for.
#[test]
fn who_floods_is_stopped() {
    breaks_off("yes", "no JSON object: y", PATIENCE);
    let all: Vec<&'static About> = checks().collect();
    for program in ["yes '{}'", "while read q; do echo '{}'; echo '{}'; done; exec sleep 600"] {
        let reports = asked(&["sh", "-c", program], &all, PATIENCE);
        assert!(matches!(reports[0].verdict, Verdict::Failed(_)), "{program}: {}", reports[0]);
        let told = reports.iter().map(ToString::to_string).collect::<String>();
        assert!(["before the question", "without a question"].iter().any(|words| told.contains(words)), "{told}");
    }
}

/// An object whose fields are no answer is a wrong answer like any other.
#[test]
fn wrong_types_are_wrong_answers() {
    for answer in ["{}", "{\"legal\":\"0 1 2\",\"after\":7}", "{\"legal\":null,\"after\":null,\"score\":[]}"] {
        let program = format!("while read q; do echo '{answer}'; done");
        let all: Vec<&'static About> = checks().collect();
        let reports = asked(&["sh", "-c", &program], &all, PATIENCE);
        let failed = reports.iter().filter(|report| matches!(report.verdict, Verdict::Failed(_))).count();
        assert_eq!(failed, all.len() - 1, "{answer}: {reports:#?}");
        assert_eq!(reports.last().unwrap().verdict, Verdict::Ok, "it ends");
    }
}

#[test]
fn an_end_that_is_none_fails_its_check_alone() {
    let twin = env!("CARGO_BIN_EXE_twin");
    for (rest, words, patience) in [
        ("exit 3", "its end with status 3", PATIENCE),
        ("exec sleep 600", "it still runs", SHORT),
        ("echo bye", "without a question a line that is no JSON object: bye", PATIENCE),
    ] {
        let program = format!("{twin} --rules; {rest}");
        // Few questions, so that the short time is enough for them.
        let chosen: Vec<&'static About> =
            checks().filter(|check| ["first-ply", "ends"].contains(&check.name)).collect();
        let reports = asked(&["sh", "-c", &program], &chosen, patience);
        assert_eq!(reports[0].verdict, Verdict::Ok, "{}", reports[0]);
        let Verdict::Failed(fault) = &reports[1].verdict else { panic!("{rest}: {}", reports[1]) };
        assert!(fault.came.contains(words), "{}", reports[1]);
    }
}

#[test]
fn what_cannot_be_started_is_an_error() {
    let quiz = Quiz { command: vec!["no-such-program-of-mine".into()], patience: PATIENCE };
    assert!(quiz.run(&[], |_| {}).is_err());
}
