// The planner as a frame: /embed/?plan=move-gpus&lang=zh, or /embed/#plan=LINK. It tells its height to the page around it.
import "./planner.js";

const wanted = new URLSearchParams(location.search);
const planner = document.createElement("tidegate-planner");
const link = new URLSearchParams(location.hash.slice(1)).get("plan");
planner.setAttribute("plan", wanted.get("plan") ?? "move-gpus");
if (link) planner.setAttribute("link", link);
if (wanted.has("lang")) planner.setAttribute("lang", wanted.get("lang"));
planner.setAttribute("height", "auto");
document.body.append(planner);
const tell = () => parent.postMessage({ tidegate: { height: document.documentElement.scrollHeight } }, "*");
new ResizeObserver(tell).observe(planner);

// The same link gives the same picture: the address follows what is moved.
planner.addEventListener("tidegate-ran", () => planner.link());
planner.addEventListener("tidegate-linked", ({ detail }) => history.replaceState(null, "", `#plan=${detail.link}`));
