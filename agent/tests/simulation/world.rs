//! Agents that come and go, and a link that loses, doubles and overtakes.
use agent::act::Act;
use agent::agent::Agent;
use agent::message::FORMAT;
use agent::message::Hello;
use agent::message::SyncAnswer;
use agent::message::SyncRequest;

use crate::authority::AGENTS;
use crate::authority::Authority;
use crate::authority::NODES;
use crate::flaw::Flaw;
use crate::machine::GPUS;
use crate::machine::Machine;
use crate::oracle::Oracle;
use crate::random::Random;

/// A process of an agent.
enum Process {
    /// It has said hello.
    Greeting(Greeting),
    Living(Box<Agent>),
    /// Refused, killed, or not there yet.
    Gone,
}

struct Greeting {
    again_at: u64,
}

/// An agent's machine with the agent on it. There is one at a time: it locks the machine's store.
struct Host {
    machine: Machine,
    /// Which agent it says that it is.
    agent: usize,
    process: Process,
    /// How many processes there were: answers come to the one that asked.
    number: u64,
    sync_at: u64,
    /// How fast its clock goes, in thousandths.
    rate: u64,
}

impl Host {
    fn clock(&self, now: u64) -> u64 {
        now * self.rate / 1_000
    }
}

enum Letter {
    Hello(Hello),
    Welcome(Option<u64>),
    Request(u64, SyncRequest),
    /// With the time at which its request was sent, by the agent's clock.
    Answer(u64, Option<SyncAnswer>),
}

struct Message {
    at: u64,
    host: usize,
    process: u64,
    letter: Letter,
}

pub(crate) struct World {
    pub(crate) random: Random,
    pub(crate) oracle: Oracle,
    now: u64,
    /// How long a step may take: in slow histories silence lasts until runs are given up.
    pace: u64,
    authority: Authority,
    hosts: Vec<Host>,
    link: Vec<Message>,
    /// Until when nothing arrives at a host, or leaves it.
    cut_until: Vec<u64>,
    is_calm: bool,
}

impl World {
    pub(crate) fn new(seed: u64, flaw: Option<Flaw>) -> Self {
        let mut random = Random::new(seed);
        // The last one is an intruder: another machine with the key of the first one.
        let hosts = (0..=AGENTS).map(|at| {
            let agent = at % AGENTS;
            let nodes: Vec<&str> = NODES.iter().filter(|(_, of)| *of == agent).map(|(node, _)| *node).collect();
            let machine = Machine::new(at as u64 + 1, &nodes, flaw);
            Host { machine, agent, process: Process::Gone, number: 0, sync_at: 0, rate: 970 + random.below(61) }
        });
        let hosts: Vec<Host> = hosts.collect();
        let cut_until = vec![0; hosts.len()];
        let (oracle, authority) = (Oracle::default(), Authority::new(flaw));
        let pace = if seed.is_multiple_of(3) { 2_000 } else { 400 };
        Self { random, oracle, now: 10_000, pace, authority, hosts, link: Vec::new(), cut_until, is_calm: false }
    }

    /// One step: something happens, then everybody goes on.
    pub(crate) fn step(&mut self) {
        self.now += 1 + self.random.below(self.pace);
        if !self.is_calm {
            self.happen();
        }
        self.go_on();
    }

    /// Nothing fails any more and nothing is wanted any more; whether everything ends.
    pub(crate) fn finish(&mut self) {
        self.is_calm = true;
        self.cut_until.fill(0);
        for host in &mut self.hosts {
            host.machine.nodes.values_mut().for_each(|node| *node = GPUS);
        }
        self.now += 1_000;
        for step in 0..3_000 {
            self.authority.stop_everything(self.now);
            self.step();
            if step > 10 && self.left_over().is_none() {
                if std::env::var("DBG").is_ok() {
                    println!("finish {step}");
                }
                return;
            }
        }
        if let Some(left) = self.left_over() {
            self.oracle.blame(format!("R3: when nothing fails any more there are still {left}"));
        }
    }

    fn left_over(&self) -> Option<String> {
        let of_host = self.hosts.iter().find_map(|host| host.machine.left_over());
        let n_living = self.oracle.n_living();
        let of_processes = (n_living > 0).then(|| format!("{n_living} processes"));
        self.authority.left_over().or(of_host).or(of_processes)
    }

    fn happen(&mut self) {
        let at = usize::try_from(self.random.below(self.hosts.len() as u64)).expect("it is small");
        let (nth, grace) = (self.random.below(100), self.random.below(8_000));
        match self.random.below(1_000) {
            0..=249 => self.authority.submit(&mut self.random),
            250..=279 => self.authority.cancel(nth, self.now, grace),
            280..=329 => self.authority.evict(nth, self.now, grace),
            330..=339 => self.authority.evict(nth, self.now, 0),
            340..=359 => self.authority.keep(),
            360..=362 => {
                self.authority.restore();
                self.oracle.restored();
            }
            363..=382 => self.hosts[at].process = Process::Gone,
            383..=392 => self.hosts[at].machine.kill_supervisor(&mut self.random),
            393..=396 => self.cut_until[at] = self.now + self.random.below(20_000),
            397..=398 => self.cut_until[at] = self.now + self.random.below(150_000),
            399..=400 => self.lose_power(at),
            401..=420 => self.authority.shrink(nth, self.now),
            421..=440 => self.authority.grow(nth),
            _ => {}
        }
    }

    /// The machine goes off; sometimes somebody says so before it is back, perhaps with fewer GPUs.
    fn lose_power(&mut self, at: usize) {
        let gpus = if self.random.per_mille(300) { GPUS - 1 } else { GPUS };
        let host = &mut self.hosts[at];
        host.process = Process::Gone;
        host.machine.lose_power(&mut self.oracle, gpus);
        let is_the_one = self.authority.knows_as_its_own(host.agent, &host.machine.store);
        if is_the_one && self.random.per_mille(300) {
            self.authority.declare_dead(host.agent, self.now);
        }
    }

    fn go_on(&mut self) {
        self.authority.pass(self.now);
        self.authority.given_up.drain(..).for_each(|job| self.oracle.give_up(job));
        for at in 0..self.hosts.len() {
            let clock = self.hosts[at].clock(self.now);
            self.hosts[at].machine.pass(clock, &mut self.random, &mut self.oracle);
            self.turn(at);
        }
        self.deliver();
        let Self { oracle, authority, .. } = self;
        oracle.check_free(|node, gpu| authority.is_free(node, gpu));
    }

    /// An agent's turn. It may be killed before each thing that it does.
    fn turn(&mut self, at: usize) {
        let (now, clock) = (self.now, self.hosts[at].clock(self.now));
        let comes = matches!(self.hosts[at].process, Process::Gone) && (at < AGENTS || self.comes_now(at));
        match &mut self.hosts[at].process {
            Process::Gone if comes => {
                self.hosts[at].number += 1;
                self.hosts[at].process = Process::Greeting(Greeting { again_at: now });
            }
            Process::Greeting(greeting) if greeting.again_at <= now => {
                greeting.again_at = now + 1_000;
                let store = self.hosts[at].machine.store.clone();
                self.send(at, || Letter::Hello(Hello { format: FORMAT, store: store.clone() }));
            }
            Process::Gone | Process::Greeting(_) => {}
            Process::Living(agent) => {
                let agent = agent.clone();
                for act in agent.decide(&self.hosts[at].machine.list(), clock) {
                    if !self.is_calm && self.random.per_mille(10) {
                        self.hosts[at].process = Process::Gone;
                        return;
                    }
                    let machine = &mut self.hosts[at].machine;
                    match act {
                        Act::Prepare(run) => agent.want(run).into_iter().for_each(|want| machine.prepare(want, clock)),
                        Act::Start(run) => machine.start(run),
                        Act::Stop(run, stop) => machine.stop(run, &stop, clock),
                        Act::Change(run, pods) => machine.change(run, pods),
                        Act::Forget(run) => machine.forget(run),
                    }
                }
                if self.hosts[at].sync_at <= now {
                    self.hosts[at].sync_at = now + 500 + self.random.below(1_500);
                    let request = agent.request(&self.hosts[at].machine.list(), clock);
                    self.send(at, || Letter::Request(clock, request.clone()));
                }
            }
        }
    }

    /// Whether the intruder comes: now and then, and at the end until it has nothing left.
    fn comes_now(&mut self, at: usize) -> bool {
        let Host { machine, agent, .. } = &self.hosts[at];
        let has_something = machine.left_over().is_some() || self.authority.knows_as_its_own(*agent, &machine.store);
        if self.is_calm { has_something } else { self.random.per_mille(20) }
    }

    /// Puts a letter on the link: lost, or doubled, or late.
    fn send(&mut self, at: usize, letter: impl Fn() -> Letter) {
        let process = self.hosts[at].number;
        let is_cut = self.now < self.cut_until[at];
        let copies = if self.is_calm { 1 } else { [1, 1, 1, 1, 1, 1, 0, 0, 2, 3][self.draw(10)] };
        for _ in 0..if is_cut { 0 } else { copies } {
            let delay = if self.is_calm { 20 } else { [50, 200, 1_000, 8_000, 40_000][self.draw(5)] };
            let at_time = self.now + self.random.below(delay);
            self.link.push(Message { at: at_time, host: at, process, letter: letter() });
        }
    }

    fn draw(&mut self, bound: u64) -> usize {
        usize::try_from(self.random.below(bound)).expect("it is small")
    }

    fn deliver(&mut self) {
        let now = self.now;
        let (due, later) = std::mem::take(&mut self.link).into_iter().partition(|message: &Message| message.at <= now);
        self.link = later;
        for Message { host: at, process, letter, .. } in due {
            let agent = self.hosts[at].agent;
            match letter {
                Letter::Hello(hello) => {
                    let welcome = self.authority.hello(agent, &hello).map(|welcome| welcome.incarnation);
                    self.reply(at, process, || Letter::Welcome(welcome));
                }
                Letter::Request(sent, request) => {
                    let answer = self.authority.sync(agent, &request, now);
                    self.reply(at, process, || Letter::Answer(sent, answer.clone()));
                }
                Letter::Welcome(incarnation) if self.hosts[at].number == process => self.welcome(at, incarnation),
                Letter::Answer(sent, answer) if self.hosts[at].number == process => self.answer(at, sent, answer),
                Letter::Welcome(_) | Letter::Answer(..) => {}
            }
        }
    }

    fn reply(&mut self, at: usize, process: u64, letter: impl Fn() -> Letter) {
        let before = self.link.len();
        self.send(at, letter);
        self.link[before..].iter_mut().for_each(|message| message.process = process);
    }

    fn welcome(&mut self, at: usize, incarnation: Option<u64>) {
        let host = &mut self.hosts[at];
        if let (Process::Greeting(_), Some(incarnation)) = (&host.process, incarnation) {
            host.process = Process::Living(Box::new(Agent::new(incarnation, host.machine.heard)));
        }
    }

    fn answer(&mut self, at: usize, sent: u64, answer: Option<SyncAnswer>) {
        let host = &mut self.hosts[at];
        let clock = host.clock(self.now);
        let Process::Living(agent) = &mut host.process else { return };
        let Some(answer) = answer else {
            host.process = Process::Gone;
            return;
        };
        agent.hear(answer, sent, clock).expect("the service writes good answers");
        host.machine.heard = agent.heard();
    }
}
