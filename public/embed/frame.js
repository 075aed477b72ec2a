// The planner as a frame: /embed/?scenario=child-level&lang=zh&theme=dark, or /embed/#plan=LINK. It tells its height to the page around it.
import "./planner.js";

const wanted = new URLSearchParams(location.search);
const link = new URLSearchParams(location.hash.slice(1)).get("plan");
if (wanted.has("lang")) document.documentElement.lang = wanted.get("lang");
const planner = document.createElement("tidegate-planner");
// What is shared comes with its own lines; it need not be a scenario that has a name here.
if (link) planner.setAttribute("link", link);
if (wanted.has("scenario") || !link) planner.setAttribute("scenario", wanted.get("scenario") ?? "child-level");
if (wanted.has("theme")) planner.setAttribute("theme", wanted.get("theme"));
planner.setAttribute("height", "auto");
document.querySelector("main").append(planner);
const tell = () => parent.postMessage({ tidegate: { height: document.documentElement.offsetHeight } }, "*");
new ResizeObserver(tell).observe(document.documentElement);

// The same link gives the same picture: the address follows what is moved.
planner.addEventListener("tidegate-ran", () => planner.link());
addEventListener("hashchange", () => location.reload());
planner.addEventListener("tidegate-linked", ({ detail }) => history.replaceState(null, "", `#plan=${detail.link}`));
