//! The Worker: bindings, routes and the clock. What happens to a cluster is decided in `engine`, and what happens to
//! its log in `protocol`.
//!
//! | who | does |
//! |---|---|
//! | the front ([`front`]) | finds out who sends a request, answers administrators' reads from KV, hands the rest to the cluster's object |
//! | the object ([`object`]) | one for each cluster: sequences commands, keeps the log, publishes to KV |
//! | the clock ([`clock`]) | each minute runs the slot's round in every known cluster |
//! | the registry ([`registry`]) | one object that knows the names of all clusters |

mod access;
mod answer;
mod backup;
mod bindings;
mod body;
mod clock;
mod front;
mod gate;
mod incidents;
mod market;
mod metrics;
mod nonces;
mod object;
mod pai;
mod past_reads;
mod portion;
mod proof;
mod query;
mod ready;
mod registry;
mod routes;
mod storage;
mod team;

use worker::Context;
use worker::Env;
use worker::Request;
use worker::Response;
use worker::ScheduleContext;
use worker::ScheduledEvent;
use worker::event;

#[event(fetch)]
async fn fetch(request: Request, env: Env, _context: Context) -> worker::Result<Response> {
    let response = if pai::is_asked(&request) {
        pai::serve(request, &env).await
    } else {
        answer::finish(front::serve(request, &env).await)
    };
    response.map(answer::for_browsers)
}

#[event(scheduled)]
async fn scheduled(event: ScheduledEvent, env: Env, _context: ScheduleContext) {
    clock::tick(&env, event.schedule()).await;
}
