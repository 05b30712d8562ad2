/** The command line `hustle`: reads the arguments, runs a command, and turns errors into messages and exit codes. */
import { parseArgs } from 'node:util';
import { isDay } from '#domain/day/day.ts';
import { enqueue, labelOf, openQueue, readPipe, sendQueue } from './append.ts';
import { checkToken, findEntries, readDays } from './api.ts';
import {
  findConnection,
  parseServer,
  readStored,
  removeStored,
  requireConnection,
  type Connection,
} from './connection.ts';
import { login, revoke } from './login.ts';
import { CommandError, EXIT, note, print, printHeading, textCount, type Machine } from './program.ts';
import type { Item, Outcome, Queue, Waiting } from './queue.ts';

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'V' },
  date: { type: 'string', short: 'd' },
  server: { type: 'string' },
  quiet: { type: 'boolean', short: 'q' },
  markdown: { type: 'boolean' },
  json: { type: 'boolean' },
  'append-only': { type: 'boolean' },
  'no-browser': { type: 'boolean' },
  retry: { type: 'boolean' },
  discard: { type: 'boolean' },
  write: { type: 'boolean' },
} as const;

type Option = keyof typeof OPTIONS;
type Options = { [Name in Option]?: ((typeof OPTIONS)[Name]['type'] extends 'string' ? string : boolean) | undefined };
type Call = { options: Options; words: string[] };
type Command = {
  /** The options that it takes beside `--server`, `--help` and `--version`. */
  options: readonly Option[];
  /** How many words may follow its name. */
  words: 'none' | 'one' | 'any';
  run(machine: Machine, call: Call): Promise<number>;
};

const COMMANDS: Readonly<Record<string, Command>> = {
  add: { options: ['date', 'quiet'], words: 'any', run: add },
  today: { options: ['date', 'markdown', 'json'], words: 'none', run: (machine, call) => show(machine, call, 'day') },
  week: { options: ['date', 'markdown', 'json'], words: 'none', run: (machine, call) => show(machine, call, 'week') },
  find: { options: ['json'], words: 'any', run: find },
  sync: { options: ['quiet'], words: 'none', run: sync },
  status: { options: [], words: 'none', run: showStatus },
  refused: { options: ['retry', 'discard'], words: 'none', run: showRefused },
  login: { options: ['append-only', 'no-browser'], words: 'one', run: connect },
  logout: { options: [], words: 'none', run: disconnect },
  mcp: { options: ['write'], words: 'none', run: serveMcp },
  help: { options: [], words: 'none', run: showHelp },
};

/** Never rejects. Returns the exit code. */
export async function runCommandLine(args: readonly string[], machine: Machine): Promise<number> {
  try {
    return await dispatch(args, machine);
  } catch (error) {
    if (error instanceof CommandError) {
      note(machine, `hustle: ${error.message}`);
      return error.exitCode;
    }
    const { code, path, message } = error as NodeJS.ErrnoException;
    if (code !== undefined && path !== undefined) {
      note(machine, `hustle: ${path} cannot be used (${code}).`);
      return EXIT.files;
    }
    note(machine, `hustle: ${message ?? String(error)}`);
    return EXIT.internal;
  }
}

async function dispatch(args: readonly string[], machine: Machine): Promise<number> {
  const { options, words, isText } = readArguments(args);
  if (options.version) return showVersion(machine);
  const [first = ''] = words;
  const name = isText ? 'add' : Object.hasOwn(COMMANDS, first) ? first : null;
  if (options.help || (name === null && words.length === 0 && machine.stdin.isTTY)) return showHelp(machine);
  const command = COMMANDS[name ?? 'add']!;
  const call = { options, words: name === null || isText ? words : words.slice(1) };
  checkCall(name ?? 'add', command, call, name === null ? words : null);
  return command.run(machine, call);
}

/** An argument that begins with a dash and has a space in it is text, not an option: `hustle "--amend was wrong"`. */
function readArguments(args: readonly string[]): Call & { isText: boolean } {
  const end = args.indexOf('--');
  const before = end === -1 ? args : args.slice(0, end);
  const after = end === -1 ? [] : args.slice(end + 1);
  // A NUL, which no argument contains, hides the dash of a text from `parseArgs`.
  const marked = before.map((arg) => (/^-.*\s/s.test(arg) ? `\0${arg}` : arg));
  try {
    const { values, positionals } = parseArgs({ args: marked, options: OPTIONS, allowPositionals: true });
    const words = [...positionals.map((word) => word.replace('\0', '')), ...after];
    // Words after `--` are text, even if the first one is the name of a command.
    return { options: values, words, isText: positionals.length === 0 && after.length > 0 };
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('. ');
    throw new CommandError(EXIT.usage, `${reason}. To add text that begins with a dash, write: hustle -- TEXT`);
  }
}

function checkCall(name: string, command: Command, { options, words }: Call, guessed: readonly string[] | null): void {
  for (const option of Object.keys(options) as Option[]) {
    if (option === 'server' || command.options.includes(option)) continue;
    throw new CommandError(EXIT.usage, `"hustle ${name}" has no option --${option}. See "hustle --help".`);
  }
  if (options.date !== undefined && !isDay(options.date))
    throw new CommandError(EXIT.usage, `${options.date} is no date. Write it as 2026-11-28.`);
  const max = { none: 0, one: 1, any: Infinity }[command.words];
  if (words.length > max)
    throw new CommandError(
      EXIT.usage,
      `"${name}" is a command. To add the text, write: hustle add ${name} ${words.join(' ')}`,
    );
  const [only] = guessed ?? [];
  const meant = guessed?.length === 1 ? Object.keys(COMMANDS).find((each) => isTypo(only!, each)) : undefined;
  if (meant !== undefined)
    throw new CommandError(EXIT.usage, `Did you mean "hustle ${meant}"? To add the word, write: hustle add ${only}`);
}

/** True if one letter is added, missing or different, or two neighbours are swapped. */
function isTypo(word: string, name: string): boolean {
  if (word === name || Math.abs(word.length - name.length) > 1) return false;
  let start = 0;
  while (start < word.length && word[start] === name[start]) start += 1;
  const [restOfWord, restOfName] = [word.slice(start), name.slice(start)];
  return (
    restOfWord.slice(1) === restOfName.slice(1) ||
    restOfWord === restOfName.slice(1) ||
    restOfWord.slice(1) === restOfName ||
    (restOfWord.slice(2) === restOfName.slice(2) && restOfWord[0] === restOfName[1] && restOfWord[1] === restOfName[0])
  );
}

async function add(machine: Machine, { options, words }: Call): Promise<number> {
  const text = words.length > 0 ? words.join(' ') : await readPipe(machine);
  const connection = requireConnectionFor(text, machine, options);
  const queue = openQueue(machine);
  const added = enqueue(machine, queue, connection, text, options);
  if (added.length === 0) throw new CommandError(EXIT.data, 'There is no text to add.');
  const outcomes = await sendQueue(machine, queue, connection);
  const own = added.map(({ key }) => outcomes.get(key));
  const [first] = own;
  if (!options.quiet && first?.is === 'appended') print(machine, `Added to ${labelOf(first.date)}.`);
  return reportOutcomes(machine, queue, connection, outcomes, { added });
}

/** As `requireConnection`. On an error it prints the text, which cannot be queued without an account. */
function requireConnectionFor(text: string, machine: Machine, options: Options): Connection {
  try {
    return requireConnection(machine, options);
  } catch (error) {
    if (text.trim() !== '') note(machine, `Not added:\n${text.trimEnd()}`);
    throw error;
  }
}

/**
 * Says what was refused and what waits. Returns the exit code: a new text that waits is safe and counts as a success,
 * because a script that repeated the call would add it twice. Without permission, the code says so.
 */
function reportOutcomes(
  machine: Machine,
  queue: Queue,
  connection: Connection,
  outcomes: ReadonlyMap<string, Outcome>,
  { added = [], failure = '' }: { added?: readonly Item[]; failure?: string } = {},
): number {
  const all = [...outcomes.values()];
  const refused = all.filter((outcome) => outcome.is === 'refused');
  if (refused.length > 0)
    note(
      machine,
      `Refused: ${refused[0]!.why} ${refused.length === 1 ? 'The text is' : `${refused.length} texts are`} kept: hustle refused`,
    );
  const later = all.find((outcome) => outcome.is === 'later');
  if (later) {
    const waiting = queue.waiting().filter(({ item }) => isFor(item, connection)).length;
    const why = later.why === failure ? '' : `${later.why} `;
    note(machine, `${why}${textCount(waiting)} kept here, sent with the next call or by "hustle sync".`);
    if (later.exitCode === EXIT.permission || added.length === 0) return later.exitCode;
  }
  return added.some(({ key }) => outcomes.get(key)?.is === 'refused') ? EXIT.data : EXIT.ok;
}

const isFor = (item: Item, { server, account }: Connection): boolean =>
  item.server === server && item.account === account;

/** Sends what waits before a day is read, so that what was just written is in it. */
async function sendThenRead<Answer>(
  machine: Machine,
  connection: Connection,
  read: () => Promise<Answer>,
): Promise<Answer> {
  const queue = openQueue(machine);
  const outcomes = await sendQueue(machine, queue, connection);
  try {
    const answer = await read();
    reportOutcomes(machine, queue, connection, outcomes);
    return answer;
  } catch (error) {
    reportOutcomes(machine, queue, connection, outcomes, { failure: (error as Error).message });
    throw error;
  }
}

async function show(machine: Machine, { options }: Call, period: 'day' | 'week'): Promise<number> {
  if (options.markdown && options.json) throw new CommandError(EXIT.usage, 'Choose --markdown or --json.');
  const connection = requireConnection(machine, options);
  const answer = await sendThenRead(machine, connection, () =>
    readDays(machine, connection, { period, date: options.date }),
  );
  if (options.json) {
    printJson(machine, answer);
    return EXIT.ok;
  }
  const { from, to, days } = answer;
  if (days.length === 0) {
    const range = from === to ? `on ${labelOf(from)}` : `from ${labelOf(from)} to ${labelOf(to)}`;
    note(machine, `Nothing is written ${range}.`);
  }
  for (const [index, { date, markdown }] of days.entries()) {
    if (index > 0) print(machine, '');
    if (options.markdown) print(machine, `## ${labelOf(date)}\n`);
    else printHeading(machine, labelOf(date));
    print(machine, options.markdown ? markdown.trimEnd() : withoutEscapes(markdown.trimEnd()));
  }
  return EXIT.ok;
}

/** Removes Markdown's backslashes: people read `*`, not `\*`. */
const withoutEscapes = (markdown: string): string => markdown.replaceAll(/\\([!-/:-@[-`{-~])/g, '$1');

/** With every character that is not ASCII escaped: some terminals obey control characters above 0x7f, too. */
function printJson({ stdout }: Machine, value: unknown): void {
  const text = JSON.stringify(value, null, 2);
  const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  stdout.write(`${text.replaceAll(/[^\n -~]/g, escape)}\n`);
}

async function find(machine: Machine, { options, words }: Call): Promise<number> {
  if (words.length === 0) throw new CommandError(EXIT.usage, 'Say what to find: hustle find WORDS');
  const connection = requireConnection(machine, options);
  const found = await sendThenRead(machine, connection, () => findEntries(machine, connection, words.join(' ')));
  if (options.json) {
    printJson(machine, found);
    return EXIT.ok;
  }
  if (found.results.length === 0) note(machine, 'Nothing was found.');
  for (const { date, snippet } of found.results) print(machine, `${date}  ${snippet.replaceAll(/\s+/g, ' ').trim()}`);
  if (!found.isComplete) note(machine, 'There may be more: find a longer word, or try again.');
  return EXIT.ok;
}

async function sync(machine: Machine, { options }: Call): Promise<number> {
  const connection = requireConnection(machine, options);
  const queue = openQueue(machine);
  const outcomes = await sendQueue(machine, queue, connection);
  const sent = [...outcomes.values()].filter(({ is }) => is === 'appended').length;
  if (!options.quiet) print(machine, sent === 0 ? 'Nothing was sent.' : `Sent ${textCount(sent)}.`);
  const exitCode = reportOutcomes(machine, queue, connection, outcomes);
  return [...outcomes.values()].some(({ is }) => is === 'refused') ? EXIT.data : exitCode;
}

async function showStatus(machine: Machine, { options }: Call): Promise<number> {
  const connection = findConnection(machine, options);
  const queue = openQueue(machine);
  const waiting = queue.waiting();
  const own = connection === null ? [] : waiting.filter(({ item }) => isFor(item, connection));
  const refused = queue.refused().length;
  const problem = connection && (await checkToken(machine, connection));
  const hasEnded = problem?.exitCode === EXIT.permission;
  if (connection === null) print(machine, 'Not connected. Run "hustle login".');
  else {
    const stored = machine.env['HUSTLE_TOKEN'] || hasEnded ? null : readStored(machine);
    print(machine, `Server: ${connection.server}`);
    if (stored?.scope !== undefined) print(machine, `May: ${stored.scope.replace(' ', ' and ')}`);
    if (stored?.expires_at !== undefined) print(machine, `Until: ${stored.expires_at.slice(0, 10)}`);
  }
  if (own.length > 0) print(machine, `Waiting: ${textCount(own.length)}. Send them: hustle sync`);
  const others = waiting.length - own.length;
  if (others > 0) print(machine, `Waiting for another account or server: ${textCount(others)}`);
  if (refused > 0) print(machine, `Refused: ${textCount(refused)}. Look at them: hustle refused`);
  if (problem) note(machine, problem.message);
  return connection === null || hasEnded ? EXIT.permission : EXIT.ok;
}

async function showRefused(machine: Machine, { options }: Call): Promise<number> {
  if (options.retry && options.discard) throw new CommandError(EXIT.usage, 'Choose --retry or --discard.');
  const queue = openQueue(machine);
  const refused = queue.refused();
  if (options.discard) {
    for (const each of refused) queue.discard(each);
    print(machine, `Discarded ${textCount(refused.length)}.`);
    return EXIT.ok;
  }
  if (options.retry) {
    for (const each of refused) queue.retry(each);
    return sync(machine, { options: { server: options.server }, words: [] });
  }
  if (refused.length === 0) note(machine, 'Nothing was refused.');
  for (const each of refused) showItem(machine, each);
  return EXIT.ok;
}

function showItem(machine: Machine, { item }: Waiting): void {
  const { date, at, refused = '', text } = item;
  printHeading(machine, `${date ?? at.slice(0, 10)}: ${refused}`);
  print(machine, text);
}

async function connect(machine: Machine, { options, words: [typed] }: Call): Promise<number> {
  if (machine.env['HUSTLE_TOKEN'])
    throw new CommandError(EXIT.usage, 'HUSTLE_TOKEN is set and would be used in place of the login. Unset it first.');
  const named = typed ?? options.server ?? machine.env['HUSTLE_SERVER'] ?? readStoredServer(machine) ?? BUILT_FOR;
  if (!named.includes('.') && !named.includes(':') && named !== 'localhost')
    throw new CommandError(EXIT.usage, 'Say where your journal is: hustle login https://journal.example');
  const server = parseServer(named);
  await login(machine, server, {
    opensBrowser: !options['no-browser'],
    scope: options['append-only'] ? 'append' : 'append read',
  });
  const connection = requireConnection(machine, { server });
  const queue = openQueue(machine);
  reportOutcomes(machine, queue, connection, await sendQueue(machine, queue, connection));
  return EXIT.ok;
}

/** The server that this file was downloaded from writes its address in place of this word. */
const BUILT_FOR = 'HUSTLE-FORGE-SERVER';

/** A damaged file must not prevent the login that repairs it. */
function readStoredServer(machine: Machine): string | undefined {
  try {
    return readStored(machine)?.server;
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  }
}

async function disconnect(machine: Machine): Promise<number> {
  const stored = readStored(machine);
  if (stored === null) {
    note(machine, 'Not connected.');
    return EXIT.ok;
  }
  try {
    await revoke(machine, stored);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    removeStored(machine);
    throw new CommandError(
      error.exitCode,
      `${error.message} The token is deleted here, and still valid there: revoke it in Settings of ${stored.server}.`,
    );
  }
  removeStored(machine);
  print(machine, `Disconnected from ${stored.server}. The token has ended.`);
  const waiting = openQueue(machine).waiting().length;
  if (waiting > 0) note(machine, `${textCount(waiting)} wait here until you log in again.`);
  return EXIT.ok;
}

async function serveMcp(machine: Machine, { options }: Call): Promise<number> {
  const { runMcpServer } = await import('./mcp.ts');
  return runMcpServer(machine, requireConnection(machine, options), { canWrite: options.write === true });
}

async function showHelp(machine: Machine): Promise<number> {
  print(machine, HELP);
  return EXIT.ok;
}

function showVersion(machine: Machine): number {
  print(machine, `hustle ${machine.version}`);
  return EXIT.ok;
}

const HELP = `Usage: hustle TEXT              add an item to today
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
