//! The module that draws charts, loaded when the first one is to be seen.

use console_model::chart::Chart;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

// A dynamic import has no other way from Rust. A load that failed is tried again with the next chart.
#[wasm_bindgen(inline_js = r#"
let module;
async function load() {
  const charts = await import("/app/charts.js");
  await charts.default();
  return charts;
}
export async function draw_chart(chart) {
  module ??= load().catch((error) => { module = undefined; throw error; });
  return (await module).draw(chart);
}
"#)]
extern "C" {
    #[wasm_bindgen(catch)]
    async fn draw_chart(chart: &str) -> Result<JsValue, JsValue>;
}

/// The chart as SVG; nothing if it could not be drawn.
pub(crate) async fn draw(chart: &Chart) -> Option<String> {
    let text = serde_json::to_string(chart).ok()?;
    draw_chart(&text).await.ok()?.as_string()
}
