// For pages with planners in frames: gives each frame the height that its planner asks for.
addEventListener("message", ({ data, source }) => {
  const height = Number(data?.tidegate?.height);
  if (!(height > 0)) return;
  for (const frame of document.querySelectorAll("iframe")) {
    if (frame.contentWindow === source) frame.style.height = `${Math.ceil(height)}px`;
  }
});
