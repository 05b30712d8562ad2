/** Turns a CPU profile of V8 into a flame graph: each call is as wide as its share of the CPU time. */
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(import.meta.dirname, '..', '..');
const WIDTH = 1_600;
const ROW = 17;
/** Narrower calls are left out, and so is a name that needs more room than its call has. */
const MIN_WIDTH = 1.5;
const CHARACTER_WIDTH = 6.2;
const COLOURS: Readonly<Record<string, string>> = {
  'Hustle Forge': '#f2a65a',
  Node: '#8fb996',
  pg: '#7aa6c2',
  'native code': '#c9c9c9',
  'garbage collection': '#d98c8c',
};
const OTHER_COLOUR = '#d9c98c';

type CallFrame = { functionName: string; url: string; lineNumber: number };
export type CpuProfile = {
  nodes: { id: number; callFrame: CallFrame; children?: number[] }[];
  samples: number[];
  /** In microseconds, one for each sample. */
  timeDeltas: number[];
};

/** Times in microseconds. */
type Call = { name: string; owner: string; ownTime: number; time: number; calls: Map<string, Call> };

export type FlameGraph = {
  svg: string;
  /** The share of each owner's own code in the CPU time, the largest first. */
  shares: { owner: string; share: number }[];
};

export function createFlameGraph(profile: CpuProfile, title: string): FlameGraph {
  const root = mergeCalls(profile);
  const owners = new Map<string, number>();
  addOwnTimes(root, owners);
  const shares = [...owners]
    .map(([owner, time]) => ({ owner, share: time / root.time }))
    .toSorted((one, other) => other.share - one.share);
  return { svg: draw(root, title), shares };
}

/** Calls of the same function from the same callers are one. Idle time is no CPU time. */
function mergeCalls({ nodes, samples, timeDeltas }: CpuProfile): Call {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const ownTimes = new Map<number, number>();
  for (const [index, id] of samples.entries()) ownTimes.set(id, (ownTimes.get(id) ?? 0) + timeDeltas[index]!);

  function add(id: number, calls: Map<string, Call>): number {
    const { callFrame, children = [] } = byId.get(id)!;
    if (callFrame.functionName === '(idle)') return 0;
    const { name, owner } = describe(callFrame);
    const call = calls.get(name) ?? { name, owner, ownTime: 0, time: 0, calls: new Map<string, Call>() };
    calls.set(name, call);
    const ownTime = ownTimes.get(id) ?? 0;
    const time = children.reduce((sum, child) => sum + add(child, call.calls), ownTime);
    call.ownTime += ownTime;
    call.time += time;
    return time;
  }

  const calls = new Map<string, Call>();
  add(nodes[0]!.id, calls);
  return calls.values().next().value!;
}

function describe({ functionName, url, lineNumber }: CallFrame): { name: string; owner: string } {
  if (functionName === '(garbage collector)') return { name: 'garbage collection', owner: 'garbage collection' };
  if (url === '') return { name: functionName || '(anonymous)', owner: 'native code' };
  const file = url.startsWith('file:') ? relative(ROOT, fileURLToPath(url)) : url;
  const [, module] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file) ?? [];
  const name = `${functionName || '(anonymous)'} ${file.replace(/^.*node_modules\//, '')}:${lineNumber + 1}`;
  return { name, owner: url.startsWith('node:') ? 'Node' : (module ?? 'Hustle Forge') };
}

function addOwnTimes({ owner, ownTime, calls }: Call, owners: Map<string, number>): void {
  owners.set(owner, (owners.get(owner) ?? 0) + ownTime);
  for (const call of calls.values()) addOwnTimes(call, owners);
}

function draw(root: Call, title: string): string {
  const scale = WIDTH / root.time;
  const shapes: string[] = [];
  let depth = 0;

  function drawCalls(calls: Iterable<Call>, left: number, row: number): void {
    let x = left;
    for (const { name, owner, time, calls: inner } of [...calls].toSorted((one, other) => other.time - one.time)) {
      const width = time * scale;
      if (width >= MIN_WIDTH) {
        depth = Math.max(depth, row);
        const y = (row + 2) * ROW;
        const share = `${((time / root.time) * 100).toFixed(1)} %`;
        const letters = Math.floor((width - 4) / CHARACTER_WIDTH);
        const text =
          letters < 4
            ? ''
            : `<text x="${(x + 2).toFixed(1)}" y="${y + 12}">${escapeXml(name.slice(0, letters))}</text>`;
        shapes.push(
          `<g><title>${escapeXml(name)} (${share})</title><rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" ` +
            `height="${ROW - 1}" fill="${COLOURS[owner] ?? OTHER_COLOUR}"/>${text}</g>`,
        );
        drawCalls(inner.values(), x, row + 1);
      }
      x += width;
    }
  }

  drawCalls(root.calls.values(), 0, 0);
  const legend = [...Object.entries(COLOURS), ['other libraries', OTHER_COLOUR] as const]
    .map(([owner, colour], index) => {
      const x = 700 + index * 150;
      return `<rect x="${x}" y="6" width="12" height="12" fill="${colour}"/><text x="${x + 16}" y="16">${owner}</text>`;
    })
    .join('\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${(depth + 4) * ROW}" font-family="monospace" font-size="10.5">
<rect width="100%" height="100%" fill="#fff"/>
<text x="4" y="16" font-size="12">${escapeXml(title)}</text>
${legend}
${shapes.join('\n')}
</svg>
`;
}

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
