//! Objects of KV, one a request, for backups: read as they are, and put where a restore finds them.
//!
//! Nothing that is put changes what is there: a key ends with the digest of its text. And nothing of it is a cluster before
//! the restore that names its head, which leaves a cluster that is there alone.

use engine::message::rejection::Rejection;
use protocol::answer::Imported;
use protocol::backup::OBJECT_BYTES_MAX;
use protocol::kv;
use protocol::kv::KvStore;
use protocol::name::ClusterName;
use protocol::name::is_fixed;
use protocol::name::verify;
use protocol::route::Call;
use worker::Env;
use worker::Request;
use worker::Response;

use crate::answer;
use crate::answer::Problem;
use crate::answer::Reply;
use crate::bindings::Kv;
use crate::body;
use crate::routes::Asked;

/// Answers who administers all clusters.
pub(crate) async fn serve(request: &mut Request, env: &Env, cluster: &ClusterName, asked: &Asked) -> Reply {
    if asked.route.call == Call::Import {
        import(request, env, cluster, asked.name()).await
    } else {
        object(env, asked.name()).await
    }
}

/// The text of an object: of this cluster, or of the one that it was restored from and still stands on.
async fn object(env: &Env, key: &str) -> Reply {
    if !key.starts_with("c/") || !is_fixed(key) {
        return Err(Problem::NoRoute);
    }
    let text = kv::object(&Kv::of(env)?, key).await.map_err(answer::of_restore)?;
    Ok(Response::ok(text)?)
}

/// Puts an object.
async fn import(request: &mut Request, env: &Env, cluster: &ClusterName, name: &str) -> Reply {
    let malformed = |reason: String| Problem::from(Rejection::Malformed { reason });
    let body = body::within(request, OBJECT_BYTES_MAX).await?;
    let text = String::from_utf8(body).map_err(|error| malformed(error.to_string()))?;
    let key = format!("{}{name}", cluster.start());
    verify(&key, &text).map_err(|fault| malformed(fault.to_string()))?;
    Kv::of(env)?.put(&key, &text).await?;
    Ok(Response::from_json(&Imported { key })?)
}
