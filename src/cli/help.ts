export const HELP = `Usage: hustle TEXT              add an item to today
       COMMAND | hustle         add each line
       hustle COMMAND [OPTION]

Commands:
  add TEXT                 add an item, also one that is the name of a command
  today                    show today
  week                     show this week, Monday to Sunday
  find WORDS               find days
  login [SERVER]           connect to your journal, in your browser
  logout                   disconnect, and end the token
  status                   show the connection, and what waits
  sync                     send what waits
  refused                  show what the server has refused
  mcp                      serve an agent over stdio (Model Context Protocol)

Options:
  -d, --date 2026-11-28    another day, or the week of that day
  -q, --quiet              say nothing when all went well
      --markdown, --json   today and week as Markdown or JSON; find as JSON
      --append-only        login: ask for no right to read
      --no-browser         login: print the address only
      --retry, --discard   refused: send again, or delete
      --write              mcp: also let the agent add items
      --server SERVER      another server than the stored one
  -h, --help               show this help
  -V, --version            show the version

What cannot be sent is kept on this machine and sent with the next call, once,
for the day on which it was written.

HUSTLE_SERVER and HUSTLE_TOKEN take the place of the login. NO_COLOR turns
styles off.

Exit codes: 0 added, shown, or kept to be sent; 64 wrong usage; 65 refused, or
no text; 69 no answer; 70 a defect; 74 a file cannot be used; 75 try later;
77 not connected or not allowed; 78 wrong configuration.`;
