/**
 * A record of everything that the users of a schedule wrote, to compare it with what the server has at the end. Every
 * text that is typed is a word of its own, so each word can be found again.
 */
import { itemsOf, type Tab } from './browser/tab.ts';

/** A tab that crashes may lose text that was typed at most this long before: the draft may not contain it yet. */
const DRAFT_MS = 100;

type Word = {
  text: string;
  typedAt: number;
  typedIn: Tab | null;
  /** The tabs that changed an item with this word. */
  editedIn: Set<Tab>;
  /** The tabs that moved another item past an item with this word: the merge may take the latter for the moved one. */
  passedIn: Set<Tab>;
  /** The tabs that deleted an item with this word. */
  deletedIn: Set<Tab>;
  /** True if the tab may have crashed before the word was in a draft. */
  mayBeLost: boolean;
};

const SYLLABLES = ['ba', 'ce', 'di', 'fo', 'gu', 'ha', 'je', 'ki', 'lo', 'mu', 'na', 'pe', 'ri', 'so', 'tu', 'va'];

/** Returns a word of eight letters. Words begin differently, so the merge does not take two of them for one line. */
function wordOf(index: number): string {
  const mixed = (index * 40_503 + 12_345) % 65_536;
  return [0, 4, 8, 12].map((bits) => SYLLABLES[(mixed >> bits) & 15]).join('');
}

export type Ledger = ReturnType<typeof createLedger>;

export function createLedger(now: () => number) {
  const words = new Map<string, Word>();
  const wordsOf = (item: string): Word[] => item.split(' ').map((text) => words.get(text)!);

  return {
    /** `tab`: null for a word that the server has from the start. */
    newWord(tab: Tab | null): string {
      const text = wordOf(words.size);
      const tabs = { editedIn: new Set<Tab>(), passedIn: new Set<Tab>(), deletedIn: new Set<Tab>() };
      words.set(text, { text, typedAt: now(), typedIn: tab, mayBeLost: false, ...tabs });
      return text;
    },

    recordEdit(item: string, tab: Tab): void {
      for (const word of wordsOf(item)) word.editedIn.add(tab);
    },

    recordPassing(item: string, tab: Tab): void {
      for (const word of wordsOf(item)) word.passedIn.add(tab);
    },

    recordDeletion(item: string, tab: Tab): void {
      for (const word of wordsOf(item)) word.deletedIn.add(tab);
    },

    recordCrash(tab: Tab): void {
      for (const word of words.values()) {
        if (word.typedIn === tab && now() - word.typedAt <= DRAFT_MS) word.mayBeLost = true;
      }
    },

    /**
     * Describes each difference between these logs of the server and the record. With `isCertain`, a word that one tab
     * deleted and no other tab edited must be gone.
     */
    problemsOf(logs: Iterable<string>, isCertain: boolean): string[] {
      const items = [...logs].flatMap(itemsOf);
      const count = new Map<string, number>();
      for (const text of items.flatMap((item) => item.split(' '))) count.set(text, (count.get(text) ?? 0) + 1);
      const problems: string[] = [];
      for (const { text, editedIn, passedIn, deletedIn, mayBeLost } of words.values()) {
        const times = count.get(text) ?? 0;
        if (times === 0 && deletedIn.size === 0 && !mayBeLost) problems.push(`${text} is lost`);
        const isLeftAlone = deletedIn.size > 0 && [...editedIn, ...passedIn].every((tab) => deletedIn.has(tab));
        if (isCertain && isLeftAlone && times > 0) problems.push(`${text} was deleted and is back`);
        // If two tabs changed an item, the merge keeps both texts, and both contain the item's words.
        if (times > 1 && editedIn.size < 2) problems.push(`${text} is there ${String(times)} times`);
      }
      const twice = items.filter((item, index) => items.indexOf(item) !== index);
      for (const item of twice) problems.push(`the item "${item}" is there twice`);
      return problems;
    },
  };
}
