//! Draws a chart as SVG. The console loads this module when the first chart is to be seen.

use console_model::chart::Chart;
use console_model::chart::Curve;
use console_model::chart::Ink;
use plotters::prelude::*;
use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;

/// The size of words, in CSS pixels.
const WORDS_PX: i32 = 15;

/// Draws a chart, which comes as JSON.
///
/// # Errors
/// If the JSON is no chart, or the chart has no room for its words.
#[wasm_bindgen]
pub fn draw(chart: &str) -> Result<String, JsError> {
    let chart: Chart = serde_json::from_str(chart)?;
    svg(&chart).map_err(|error| JsError::new(&error.to_string()))
}

fn svg(chart: &Chart) -> Result<String, Box<dyn std::error::Error + '_>> {
    let (unit_ms, unit) = unit_of_time(chart.to - chart.from);
    let (origin, origin_name) = &chart.origin;
    let time = |at: i64| as_float(at - origin) / as_float(unit_ms);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (chart.width, chart.height)).into_drawing_area();
        let ground = (time(chart.from)..time(chart.to), 0.0..as_float(chart.top.max(1)) / 1000.0);
        let mut plot = ChartBuilder::on(&area)
            .margin(8)
            .margin_right(24)
            .x_label_area_size(28)
            .y_label_area_size(56)
            .build_cartesian_2d(ground.0, ground.1)?;
        let words = ("sans-serif", WORDS_PX, &colour(Ink::Axis));
        plot.configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(colour(Ink::Grid))
            .axis_style(colour(Ink::Axis))
            .label_style(words)
            .x_labels(6)
            .y_labels(5)
            .x_label_formatter(&|at| {
                if at.abs() < 1e-9 { origin_name.clone() } else { format!("{} {unit}", number(*at)) }
            })
            .y_label_formatter(&|value| format!("{}{}", number(*value), chart.unit))
            .draw()?;
        for Curve { ink, points } in &chart.curves {
            let line = points.iter().map(|(at, value)| (time(*at), as_float(*value) / 1000.0));
            plot.draw_series(LineSeries::new(line, colour(*ink).stroke_width(2)))?;
        }
        area.present()?;
    }
    Ok(text)
}

/// The ink's number as a colour: the stylesheet says what it looks like.
fn colour(ink: Ink) -> RGBColor {
    RGBColor(0, 0, ink as u8)
}

/// The unit in which people read a time of this length.
fn unit_of_time(ms: i64) -> (i64, &'static str) {
    match ms {
        ..=120_000 => (1000, "s"),
        120_001..=7_200_000 => (60_000, "min"),
        7_200_001..=259_200_000 => (3_600_000, "h"),
        _ => (86_400_000, "days"),
    }
}

/// Without the zeros that say nothing.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[expect(clippy::cast_precision_loss, reason = "a place on a screen needs no more")]
fn as_float(value: i64) -> f64 {
    value as f64
}
