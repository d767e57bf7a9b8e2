//! The configuration, read and checked.

use super::*;

fn parse(text: &str) -> Result<Config, String> {
    toml::from_str::<Config>(text).map_err(|error| error.to_string())
}

/// The port for bots included (`transport.tcp`).
#[test]
fn the_template_is_the_default() {
    assert_eq!(parse(TEMPLATE).unwrap(), Config::default());
}

/// `session.guest-default`
#[test]
fn guests_come_in_where_only_this_machine_can_connect() {
    assert!(parse("bots = \"127.0.0.1:1\"").unwrap().takes_guests());
    assert!(parse("bots = \"[::1]:1\"").unwrap().takes_guests());
    assert!(!parse("bots = \"0.0.0.0:1\"").unwrap().takes_guests());
    assert!(parse("bots = \"0.0.0.0:1\"\nguests = true").unwrap().takes_guests());
    assert!(!parse("guests = false").unwrap().takes_guests());
}

#[test]
fn overload_is_above_the_smallest_grace() {
    let limit = |text: &str| parse(text).unwrap().overload();
    let pool = |grace| format!("[[pool]]\nname = \"a{grace}\"\nbase_ms = 1\ngrace_ms = {grace}\n");
    assert_eq!(limit(""), Some(Micros::from_ms(50)));
    assert_eq!(limit(&(pool(70) + &pool(60))), Some(Micros::from_ms(60)));
    assert_eq!(limit(&pool(0)), Some(Micros::from_ms(10)), "a pool may have none");
    assert_eq!(limit("overload_ms = 7"), Some(Micros::from_ms(7)));
    assert_eq!(limit("overload_ms = 0"), None);
}

#[test]
fn every_key_is_in_the_template() {
    let shown = format!("{:?}", Config::default());
    let keys = [
        "data",
        "bots",
        "http",
        "house_bots",
        "drain_ms",
        "restart_wait_ms",
        "overload_ms",
        "node",
        "guests",
        "registration",
        "format",
    ];
    for key in keys.into_iter().chain(Limits::default().values().map(|(key, ..)| key)) {
        assert!(shown.contains(key), "{key}");
        assert!(TEMPLATE.contains(&format!("{key} = ")), "{key}");
    }
}

#[test]
fn mistakes_are_named_with_their_line() {
    let error = parse("drain_ms = 1\nbasse_ms = 2").unwrap_err();
    assert!(error.contains("line 2") && error.contains("basse_ms"), "{error}");
    let pool = |keys: &str| parse(&format!("[[pool]]\nname = \"a\"\nbase_ms = 1\n{keys}")).unwrap_err();
    assert!(pool("repetition = 1").contains("repetition = 1"));
    assert!(pool("move_ms = 86400001").contains("86400001"));
    assert!(pool("base = 3").contains("base"));
    assert!(pool("move_ms = 0").contains("move_ms = 0"));
    let second = pool("[[pool]]\nname = \"b\"\nbase_ms = 0");
    assert!(second.contains("line 6") && second.contains("base_ms = 0"), "{second}");
    let named = pool("[[pool]]\nname = \"A\"\nbase_ms = 1");
    assert!(named.contains("line 5") && named.contains("'A'"), "{named}");
}

#[test]
fn values_that_contradict_one_another_are_refused() {
    for (text, fault) in [
        ("http = \"127.0.0.1:6634\"", "both 127.0.0.1:6634"),
        ("data = \"\"", "name a directory"),
        (&*format!("data = \"/{}\"", "d".repeat(100)), "choose a shorter one"),
        ("overload_ms = 86400001", "overload_ms = 86400001 is above 86400000"),
        ("[limits]\nconnections = 10\nconnections_per_address = 11", "above connections = 10"),
    ] {
        let error = parse(text).unwrap().check().unwrap_err().to_string();
        assert!(error.contains(fault), "{error}");
    }
    assert!(parse("bots = \"127.0.0.1:0\"\nhttp = \"127.0.0.1:0\"").unwrap().check().is_ok());
}

/// `limits.host`: each bound of a limit passes, and what lies beyond it is named.
#[test]
fn limits_have_ranges() {
    for (key, _, range) in Limits::default().values() {
        let with = |value: u64| parse(&format!("[limits]\n{key} = {value}")).unwrap().limits.check();
        assert_eq!((with(*range.start()), with(*range.end())), (Ok(()), Ok(())), "{key}");
        for beyond in range.start().checked_sub(1).into_iter().chain([range.end() + 1]) {
            let fault = with(beyond).unwrap_err();
            assert!(fault.contains(key) && fault.contains(&beyond.to_string()), "{fault}");
        }
    }
}

#[test]
fn an_address_has_its_limit_where_others_can_connect() {
    let limit = |text: &str| parse(text).unwrap().connections_per_address();
    assert_eq!(limit("bots = \"127.0.0.1:1\""), 10_000);
    assert_eq!(limit("bots = \"0.0.0.0:1\""), 256);
    assert_eq!(limit("bots = \"127.0.0.1:1\"\n[limits]\nconnections_per_address = 7"), 7);
}

#[test]
fn a_certificate_wants_its_key() {
    let environment = [("MODIAR_TLS_KEY".to_owned(), "key.pem".to_owned())];
    let config = Config::load(None, environment.into_iter()).unwrap();
    let error = config.check().unwrap_err().to_string();
    assert!(error.contains("certificate"), "{error}");
    assert!(parse("[tls]\nkey = \"key.pem\"").unwrap_err().contains("certificate"));
}

#[test]
fn the_environment_lies_over_the_file() {
    let environment = [
        ("MODIAR_DRAIN_MS", "7"),
        ("MODIAR_NAME", "dice"),
        ("MODIAR_LOG_FORMAT", "json"),
        ("MODIAR_LIMITS_HANDSHAKE_MS", "70"),
    ];
    let config = Config::load(None, environment.map(|(key, value)| (key.into(), value.into())).into_iter()).unwrap();
    assert_eq!((config.drain_ms, config.log.format, config.limits.handshake_ms), (7, LogFormat::Json, 70));
    for (variable, value) in
        [("MODIAR_BOTS", "localhost"), ("MODIAR_LIMITS_CONNECTIONS", "many"), ("MODIAR_LIMITS_CONECTIONS", "7")]
    {
        let bad = [(variable.to_owned(), value.to_owned())];
        let error = Config::load(None, bad.into_iter()).unwrap_err().to_string();
        assert!(error.contains(&format!("{variable} = '{value}'")), "{error}");
    }
    for variable in [
        "MODIAR_DRAIN",
        "MODIAR_LOG",
        "MODIAR_POOL_BASE_MS",
        "MODIAR_TLS_KEY_PASSWORD",
        "MODIAR_CONFIG",
        "MODIAR_DRIAN_MS",
        "MODIAR_HTTPS",
    ] {
        let unknown = [(variable.to_owned(), "secret".to_owned())];
        let error = Config::load(None, unknown.into_iter()).unwrap_err().to_string();
        assert!(error.contains(variable) && !error.contains("secret"), "{error}");
    }
}

/// `transport.server-line-limit`: a welcome that no line can hold is refused at the start, not at the hello.
#[test]
fn more_pools_than_a_welcome_holds_are_refused() {
    let pools = |count: usize| -> String {
        (0..count).map(|at| format!("[[pool]]\nname = \"pool-{at}\"\nbase_ms = 1000\n")).collect()
    };
    assert!(parse(&pools(30)).unwrap().check().is_ok());
    let error = parse(&pools(100)).unwrap().check().unwrap_err().to_string();
    assert!(error.contains("8192 at most"), "{error}");
}

/// Every difference as the log tells it.
fn told(differences: &[Difference]) -> Vec<String> {
    differences.iter().map(ToString::to_string).collect()
}

#[test]
fn what_can_change_while_the_daemon_runs_does_and_the_rest_is_named() {
    let old = parse("guests = false\n[[pool]]\nname = \"a\"\nbase_ms = 1000\n[[pool]]\nname = \"gone\"\nbase_ms = 1")
        .unwrap();
    let new = parse(
        "node = \"other\"\nregistration = true\ndrain_ms = 7\nhttp = \"127.0.0.1:1\"\n[log]\nformat = \"json\"\n\
         [limits]\nconnections = 9\n[tls]\ncertificate = \"c\"\nkey = \"k\"\n\
         [[pool]]\nname = \"new\"\nbase_ms = 5\n\
         [[pool]]\nname = \"a\"\nbase_ms = 2000\ngrace_ms = 7\nrated = false\nillegal_moves = 2\nquiet_plies = 7",
    );
    let Reloaded { config, changed, needs_restart } = old.reload(&new.unwrap()).unwrap();
    assert_eq!(
        told(&changed),
        [
            "[[pool]] a base_ms: 1000 -> 2000",
            "[[pool]] a grace_ms: 50 -> 7",
            "[[pool]] a illegal_moves: 0 -> 2",
            "[[pool]] a rated: true -> false",
            "[[pool]] new: (none) -> there",
            "[limits] connections: 10000 -> 9",
            "[limits] connections_per_address: 10000 -> 9",
            "drain_ms: 30000 -> 7",
            "guests: false -> true",
            "registration: false -> true",
        ]
    );
    assert_eq!(
        told(&needs_restart),
        [
            "[[pool]] a quiet_plies: 200 -> 7",
            "[[pool]] gone: there -> (none)",
            "[log] format: text -> json",
            "[tls] certificate: (none) -> c",
            "[tls] key: (none) -> k",
            "http: 127.0.0.1:6635 -> 127.0.0.1:1",
            "node: modiar -> other",
            "overload_ms: 50 -> 10",
        ]
    );
    let pools: Vec<(&str, u64, u16)> =
        config.pools.iter().map(|pool| (&*pool.name, pool.time.base_ms, pool.rules.quiet_plies)).collect();
    assert_eq!(pools, [("a", 2000, 200), ("gone", 1, 200), ("new", 5, 200)], "those that were keep their places");
    // Read once more nothing changes, and the rest still waits for a restart.
    let again = config.reload(&parse("node = \"other\"").unwrap()).unwrap();
    assert!(told(&again.needs_restart).contains(&"node: modiar -> other".to_owned()));
}

/// Every key is among the values that are compared, and what is the same is no difference.
#[test]
fn a_configuration_that_is_the_same_changes_nothing() {
    let (default, template) = (Config::default(), parse(TEMPLATE).unwrap());
    let Reloaded { config, changed, needs_restart } = default.reload(&template).unwrap();
    assert_eq!((told(&changed).len(), told(&needs_restart).len()), (0, 0));
    let again = config.reload(&template).unwrap();
    assert_eq!((told(&again.changed).len(), told(&again.needs_restart).len()), (0, 0));
    let keys = TEMPLATE.lines().filter_map(|line| line.trim_start_matches("# ").split_once(" = "));
    let values = Config { tls: Some(TlsFiles::default()), ..default }.values();
    for (key, _) in keys.filter(|(key, _)| !key.contains(' ') && *key != "name") {
        assert!(values.keys().any(|known| known.split(' ').next_back() == Some(key)), "{key}");
    }
}

/// Pools that stay until a restart and new ones are too many together: then nothing changes.
#[test]
fn a_reload_that_leads_to_what_cannot_be_used_is_refused() {
    let pools = |prefix: &str| -> Config {
        parse(&(0..30).map(|at| format!("[[pool]]\nname = \"{prefix}-{at}\"\nbase_ms = 1000\n")).collect::<String>())
            .unwrap()
    };
    let (old, new) = (pools("old"), pools("new"));
    assert!(old.check().is_ok() && new.check().is_ok());
    let error = old.reload(&new).unwrap_err().to_string();
    assert!(error.contains("8192 at most"), "{error}");
}
