//! The libraries: where each stands, what builds its programs, and what runs them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A library.
pub struct Sdk {
    /// Its folder in `clients/`.
    pub folder: &'static str,
    /// The files that hold its messages.
    wire: &'static [&'static str],
    /// A program without which nothing of it runs.
    tool: &'static str,
    /// What builds its programs: in its folder `{here}`, into the folder `{out}`.
    builds: &'static [&'static str],
    /// What runs its driver, and the bot that plays greedily.
    driver: &'static str,
    greedy: &'static str,
    /// The programs that its page shows, one by `run` and one with a loop of its own: the file, the block's language, and
    /// what runs it.
    shown: [[&'static str; 3]; 2],
    /// What runs its own tests, where nothing else does.
    tests: &'static [&'static str],
}

pub const C: Sdk = Sdk {
    folder: "c",
    wire: &["modiar.h", "modiar.c"],
    tool: "cc",
    builds: &[
        "cc -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -I. -o {out}/driver tests/driver.c",
        "cc -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -I. -o {out}/greedy bots/greedy_bot.c bots/options.c modiar.c",
        "cc -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -I. -o {out}/first bots/first_bot.c modiar.c",
        "cc -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -I. -o {out}/own_loop bots/own_loop.c modiar.c",
    ],
    driver: "{out}/driver",
    greedy: "{out}/greedy",
    shown: [["bots/first_bot.c", "c", "{out}/first"], ["bots/own_loop.c", "c", "{out}/own_loop"]],
    // Whatever it does to memory that is not its own is found.
    tests: &[
        "cc -std=c11 -O1 -g -fsanitize=address,undefined -Wall -Wextra -Wpedantic -Werror -I. -o {out}/tests tests/tests.c",
        "{out}/tests",
    ],
};

pub const GO: Sdk = Sdk {
    folder: "go",
    wire: &["wire.go"],
    tool: "go",
    builds: &[
        "go vet ./...",
        "go build -o {out}/driver ./tests/driver",
        "go build -o {out}/greedy ./bots/greedy",
        "go build -o {out}/first ./bots/first",
        "go build -o {out}/loop ./bots/loop",
    ],
    driver: "{out}/driver",
    greedy: "{out}/greedy",
    shown: [["bots/first/main.go", "go", "{out}/first"], ["bots/loop/main.go", "go", "{out}/loop"]],
    tests: &["go test ./..."],
};

pub const JAVA: Sdk = Sdk {
    folder: "java",
    wire: &["Modiar.java"],
    tool: "javac",
    builds: &[
        "javac -Xlint:all -Xdoclint:all/public -Werror -d {out} Modiar.java",
        "javac -Xlint:all -Werror -cp {out} -d {out} tests/Driver.java tests/Tests.java tests/Part.java \
         bots/FirstBot.java bots/OwnLoop.java bots/GreedyBot.java bots/Options.java",
    ],
    driver: "java -cp {out} Driver",
    // Quick to start, for it is started often.
    greedy: "java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp {out} GreedyBot",
    shown: [
        ["bots/FirstBot.java", "java", "java -cp {out} FirstBot"],
        ["bots/OwnLoop.java", "java", "java -cp {out} OwnLoop"],
    ],
    tests: &["java -cp {out} Tests"],
};

pub const JAVASCRIPT: Sdk = Sdk {
    folder: "javascript",
    wire: &["wire.js", "wire.d.ts"],
    tool: "node",
    builds: &[],
    driver: "node {here}/tests/driver.js",
    greedy: "node {here}/bots/greedy.js",
    shown: [
        ["bots/first.js", "js", "node {here}/bots/first.js"],
        ["bots/own_loop.js", "js", "node {here}/bots/own_loop.js"],
    ],
    tests: &["node --test"],
};

pub const PYTHON: Sdk = Sdk {
    folder: "python",
    wire: &["src/modiar/wire.py"],
    tool: "python3",
    builds: &[],
    driver: "env PYTHONPATH={here}/src python3 {here}/tests/driver.py",
    greedy: "python3 {here}/bots/greedy_bot.py",
    shown: [
        ["bots/first_bot.py", "python", "python3 {here}/bots/first_bot.py"],
        ["bots/own_loop.py", "python", "python3 {here}/bots/own_loop.py"],
    ],
    tests: &[],
};

pub const RUST: Sdk = Sdk {
    folder: "rust",
    wire: &[
        "../../protocol/src/client.rs",
        "../../protocol/src/server.rs",
        "../../protocol/src/code.rs",
        "../../protocol/src/wire.rs",
    ],
    tool: "cargo",
    // As the tests of the workspace have built them already.
    builds: &["cargo build --quiet --locked --workspace --examples"],
    driver: "{target}/debug/examples/driver",
    greedy: "{target}/debug/examples/greedy",
    shown: [
        ["examples/first.rs", "rust", "{target}/debug/examples/first"],
        ["examples/own_loop.rs", "rust", "{target}/debug/examples/own_loop"],
    ],
    tests: &[],
};

/// The project's top folder, whichever package's tests ask.
pub fn project() -> PathBuf {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.filter(|folder| folder.join("clients").is_dir()).last().unwrap().to_owned()
}

/// Where a program is: in `target/python`, where `.ci/run` puts the Go that Debian has not, or where the system has it.
fn program(name: &str) -> PathBuf {
    let own = project().join("target/python/bin").join(name);
    if name == "go" && own.exists() { own } else { name.into() }
}

impl Sdk {
    /// Builds its programs; whether its language is on this machine, which it need not be.
    #[track_caller]
    pub fn is_built(&self) -> bool {
        if !self.is_there() {
            return false;
        }
        std::fs::create_dir_all(self.out()).unwrap();
        for build in self.builds {
            let built = self.command(build).output().unwrap();
            let told = String::from_utf8_lossy(&built.stderr);
            assert!(built.status.success(), "clients/{}: {build}\n{told}", self.folder);
        }
        true
    }

    /// What starts its driver.
    pub fn driver(&self) -> Command {
        self.command(self.driver)
    }

    /// What starts its greedy bot.
    pub fn greedy(&self) -> Vec<String> {
        self.words(self.greedy)
    }

    /// What starts the programs that its page shows; the page shows them as their files have them.
    #[track_caller]
    pub fn shown(&self) -> [Vec<String>; 2] {
        self.shown.map(|[file, language, run]| {
            let [page, program] =
                ["README.md", file].map(|path| std::fs::read_to_string(self.here().join(path)).unwrap());
            let block = format!("```{language}\n{program}```");
            assert!(page.contains(&block), "clients/{}: the page does not show {file}", self.folder);
            self.words(run)
        })
    }

    /// Runs its own tests; what failed.
    pub fn tests(&self) -> Vec<String> {
        let outcomes = self.tests.iter().map(|line| (line, self.command(line).output().unwrap()));
        let failed = outcomes.filter(|(_, outcome)| !outcome.status.success());
        let told = failed.map(|(line, outcome)| {
            let [out, err] = [outcome.stdout, outcome.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
            format!("{line}\n{out}\n{err}")
        });
        told.collect()
    }

    /// The files that hold its messages.
    pub fn wire(&self) -> Vec<PathBuf> {
        self.wire.iter().map(|file| self.here().join(file)).collect()
    }

    fn here(&self) -> PathBuf {
        project().join("clients").join(self.folder)
    }

    fn out(&self) -> PathBuf {
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients").join(self.folder)
    }

    fn words(&self, line: &str) -> Vec<String> {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("..");
        let places = [("{here}", self.here()), ("{out}", self.out()), ("{target}", target)];
        let placed = |word: &str| {
            places.iter().fold(word.to_owned(), |word, (name, path)| word.replace(name, &path.display().to_string()))
        };
        line.split(' ').map(placed).collect()
    }

    fn command(&self, line: &str) -> Command {
        let words = self.words(line);
        let mut command = Command::new(program(&words[0]));
        command.args(&words[1..]).current_dir(self.here());
        // All that Go builds with is here.
        command.envs([("GOTOOLCHAIN", "local"), ("GOPROXY", "off"), ("GOFLAGS", "-mod=mod")]);
        command
    }

    #[track_caller]
    fn is_there(&self) -> bool {
        let there = Command::new("which").arg(program(self.tool)).output().is_ok_and(|output| output.status.success());
        let required = std::env::var_os("MODIAR_REQUIRE_ALL").is_some();
        assert!(there || !required, "{} is not on this machine", self.tool);
        if !there {
            eprintln!("skipped: {} is not on this machine", self.tool);
        }
        there
    }
}
