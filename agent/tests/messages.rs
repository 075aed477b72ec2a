//! Messages as JSON: stored examples are read for ever, and what nobody knows is refused.
use agent::message::BadMessage;
use agent::message::SyncAnswer;
use agent::message::SyncRequest;
use agent::message::TAIL_BYTES_MAX;
use agent::message::Tail;
use agent::run::RunId;

const REQUEST: &str = r#"{"format":1,"incarnation":3,"answered":{"epoch":0,"revision":12},
"nodes":[{"node":"n1","gpus":8,"status":"ready","reason":null}],
"runs":[{"run":"0-9","job":"a","state":"running","told":false,"since_ms":5,"log_bytes":10,"checkpoint_ms":null},
{"run":"0-7","job":"b","state":{"ended":{"code":1}},"told":true,"since_ms":0,"log_bytes":0,"checkpoint_ms":4}]}"#;

const ANSWER: &str = r#"{"format":1,"incarnation":3,"version":{"epoch":0,"revision":14},"interval_ms":15000,
"want":[{"run":"0-9","job":"a","pods":[{"rank":0,"node":"n1","gpus":[0,1]}],"world":1,"leader":"n1","port":29500,"script":"d","stop_after_ms":null}],
"stop":[{"run":"0-8","job":"c","kill_in_ms":30000}],"forget":["0-7"]}"#;

fn answer(change: (&str, &str)) -> Result<(), String> {
    assert!(ANSWER.contains(change.0), "{}", change.0);
    let text = ANSWER.replacen(change.0, change.1, 1);
    let answer: SyncAnswer = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    answer.check().map_err(|bad: BadMessage| bad.to_string())
}

#[test]
fn stored_examples_are_read_and_written_as_they_were() {
    let request: SyncRequest = serde_json::from_str(REQUEST).unwrap();
    assert_eq!(request.check(), Ok(()));
    let short = REQUEST.replace('\n', "").replacen("\"told\":false,", "", 1).replacen(",\"checkpoint_ms\":null", "", 1);
    assert_eq!(serde_json::to_string(&request).unwrap(), short, "what says nothing is not written any more");
    assert!(!request.keeps);
    let answer: SyncAnswer = serde_json::from_str(ANSWER).unwrap();
    assert_eq!(answer.check(), Ok(()));
    assert_eq!(serde_json::to_string(&answer).unwrap(), ANSWER.replace('\n', ""));
}

#[test]
fn what_nobody_knows_is_refused() {
    assert!(answer(("\"format\":1", "\"format\":1,\"more\":1")).unwrap_err().starts_with("unknown field `more`"));
    assert_eq!(answer(("\"format\":1", "\"format\":2")).unwrap_err(), "the message has format 2; this version reads 1");
    let bad = answer(("0-9", "../9")).unwrap_err();
    assert!(bad.starts_with("\"../9\" is not a run; write EPOCH-REVISION"), "{bad}");
}

#[test]
fn an_answer_that_contradicts_itself_is_refused() {
    assert_eq!(answer(("0-8", "0-9")).unwrap_err(), "run 0-9 stands twice");
    assert_eq!(answer(("\"stop\":", "\"keep\":[\"0-9\"],\"stop\":")).unwrap_err(), "run 0-9 stands twice");
    assert_eq!(answer(("\"stop\":", "\"keep\":[\"0-6\"],\"stop\":")), Ok(()));
    assert_eq!(answer(("[0,1]", "[1,1]")).unwrap_err(), "GPU 1 stands twice, or is not below 64");
    assert_eq!(answer(("[0,1]", "[64]")).unwrap_err(), "GPU 64 stands twice, or is not below 64");
    let change = r#""change":[{"run":"0-9","pods":[],"leave":[{"order":"0-12","places":[{"node":"n1","gpus":[1]}],"kill_in_ms":5}]}],"stop":"#;
    assert_eq!(answer(("\"stop\":", change)), Ok(()), "for a while a run may have no pods here");
    let twice = change.replace("\"gpus\":[1]", "\"gpus\":[1,1]");
    assert_eq!(answer(("\"stop\":", &twice)).unwrap_err(), "GPU 1 stands twice, or is not below 64");
    let pods = r#"[{"rank":0,"node":"n1","gpus":[0,1]}]"#;
    let shared = pods.replace("}]", "},{\"rank\":1,\"node\":\"n1\",\"gpus\":[1]}]");
    assert_eq!(answer((pods, &shared)), Ok(()), "pods of one run may share a GPU");
    assert_eq!(answer((pods, "[]")).unwrap_err(), "run 0-9 has no pods");
    assert!(answer(("\"job\":\"a\"", "\"job\":\"\"")).unwrap_err().starts_with("the job must have 1 to 128 bytes"));
}

#[test]
fn the_end_of_a_log_is_cut_between_letters() {
    let run = RunId::parse("0-9").unwrap();
    let tail = |printed: &[u8]| Tail::of(1, run, 7, printed);
    assert_eq!(tail(b"one\xfftwo").text, "one\u{fffd}two");
    let long = tail("ä".repeat(TAIL_BYTES_MAX).as_bytes());
    assert_eq!((long.text.len(), long.check()), (TAIL_BYTES_MAX, Ok(())));
    let odd = tail(format!("{}a", "ä".repeat(TAIL_BYTES_MAX)).as_bytes());
    assert_eq!((odd.text.len(), odd.text.ends_with("äa")), (TAIL_BYTES_MAX - 1, true));
    let more = Tail { text: "a".repeat(TAIL_BYTES_MAX + 1), ..long };
    assert_eq!(more.check(), Err(BadMessage::TooMany("bytes of a log")));
}
