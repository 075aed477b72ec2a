// Works on what a session has to do, in short portions: a page that has asked for something else is heard in between.
const PORTION_MS = 12;
// How far it has come is told as often as somebody can read it.
const TELL_MS = 100;

/** What goes on with the work of a session, unless that is under way. What is told comes as JSON lists. */
export function portions(session, tell, fail) {
  let isWorking = false;
  let told;

  function work() {
    const end = performance.now() + PORTION_MS;
    isWorking = false;
    try {
      do {
        const list = session.work(200);
        // Whoever reads how fast it was reads all that was done.
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
