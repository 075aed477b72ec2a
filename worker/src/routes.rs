//! What a request asks for, by the table of [`protocol::route`], which the front and the objects share.

use protocol::name::ClusterName;
use protocol::route;
use protocol::route::Route;
use worker::Method;
use worker::js_sys;

use crate::answer::Problem;

/// What a request asks for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) route: &'static Route,
    /// The cluster; none where the route is of all of them.
    pub(crate) cluster: Option<ClusterName>,
    /// What else the path names; empty where it names nothing else.
    part: String,
}

impl Asked {
    /// What a request with this method and this path asks for.
    pub(crate) fn read(method: &Method, path: &str) -> Result<Self, Problem> {
        let route::Asked { route, cluster, part } = route::find(path).ok_or(Problem::NoRoute)?;
        let cluster = cluster.map(|name| ClusterName::new(name).ok_or(Problem::BadCluster)).transpose()?;
        let part = part.map(decoded).transpose()?.unwrap_or_default();
        if method.as_ref() != route.verb.as_str() {
            return Err(Problem::WrongMethod(route.verb));
        }
        Ok(Self { route, cluster, part })
    }

    /// The name that the path has beside the cluster's.
    pub(crate) fn name(&self) -> &str {
        &self.part
    }

    /// The number that the path has.
    pub(crate) fn number<T: std::str::FromStr>(&self) -> Result<T, Problem> {
        self.part.parse().map_err(|_| Problem::NoRoute)
    }
}

/// A name in a path, which may have any characters.
fn decoded(part: &str) -> Result<String, Problem> {
    js_sys::decode_uri_component(part).map(String::from).map_err(|_| Problem::NoRoute)
}
