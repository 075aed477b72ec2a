"""A program at a terminal: python3 terminal.py '[["what is waited for", "what is typed then"], ...]' PROGRAM WORD...

A third thing in a step is a command that is run before it is typed. Prints all that the terminal shows, and ends as the
program does.
"""
import json
import os
import pty
import subprocess
import sys

steps, words = json.loads(sys.argv[1]), sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(words[0], words)
shown, seen = b"", 0
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        # The program has closed its side.
        piece = b""
    if not piece:
        break
    shown += piece
    while steps and (at := shown.find(steps[0][0].encode(), seen)) >= 0:
        seen = at + len(steps[0][0].encode())
        _, typed, *meanwhile = steps.pop(0)
        for command in meanwhile:
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        os.write(terminal, typed.encode())
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
