// Portions are short, so that a page that asks for something else is heard in between.
const PORTION_MS = 12;
// As often as somebody can read it.
const TELL_MS = 100;

/** Makes a session go on, unless it does. */
export function portions(session, tell, fail) {
  let isWorking = false;
  let told;

  function work() {
    const end = performance.now() + PORTION_MS;
    isWorking = false;
    try {
      do {
        const list = session.work(200);
        // All of it, for who reads how fast it was.
        if (told > 0 && list.startsWith('[{"ran"')) tell(session.progress());
        tell(list);
      } while (session.is_busy() && performance.now() < end);
      isWorking = session.is_busy();
      if (isWorking && end - told >= TELL_MS) {
        told = end;
        tell(session.progress());
      }
    } catch (error) {
      fail(error);
    }
    if (isWorking) setTimeout(work);
  }

  return () => {
    if (isWorking || !session.is_busy()) return;
    told = 0;
    work();
  };
}
