/** The button beside a tapped link on touch screens, which have no modifier keys. */
import type { EditorState, PluginView } from '@tiptap/pm/state';
import type { EditorView } from '@tiptap/pm/view';
import { DAY_BAR_PX } from '../caret/follow-caret.ts';
import styles from '../toolbar/toolbar.module.css';

const GAP_PX = 8;

type LinkAt = (state: EditorState) => string | null;

export function openLinkButton(view: EditorView, linkAt: LinkAt, open: (href: string) => void): PluginView {
  const touch = matchMedia('(pointer: coarse)');
  const button = document.createElement('button');
  button.type = 'button';
  button.className = styles['openLink']!;
  button.textContent = 'Open link';
  button.hidden = true;
  view.dom.after(button);

  let href: string | null = null;
  const hide = (): void => void (button.hidden = true);
  const place = (): void => {
    const caret = view.coordsAtPos(view.state.selection.head);
    const page = (button.offsetParent ?? document.body).getBoundingClientRect();
    const text = view.dom.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = button;
    const left = Math.max(text.left, Math.min(caret.left - width / 2, text.right - width));
    const above = caret.top - height - GAP_PX;
    const top = above < DAY_BAR_PX ? caret.bottom + GAP_PX : above;
    button.style.translate = `${Math.round(left - page.left)}px ${Math.round(top - page.top)}px`;
  };

  // Keeps the focus in the text and the phone's keyboard open.
  button.addEventListener('pointerdown', (event) => event.preventDefault());
  button.addEventListener('mousedown', (event) => event.preventDefault());
  button.addEventListener('click', () => href !== null && open(href));
  button.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    view.focus();
    hide();
  });
  button.addEventListener('blur', hide);
  const onBlur = (event: FocusEvent): void => void (event.relatedTarget === button || hide());
  view.dom.addEventListener('blur', onBlur);

  return {
    update(_view, before) {
      const { state } = view;
      if (state.doc === before.doc && state.selection.eq(before.selection)) return;
      // Hidden while the user is typing the address.
      href = touch.matches && state.doc === before.doc && state.selection.empty ? linkAt(state) : null;
      button.hidden = href === null;
      if (href === null) return;
      button.setAttribute('aria-label', `Open link ${href}`);
      place();
    },
    destroy() {
      view.dom.removeEventListener('blur', onBlur);
      button.remove();
    },
  };
}
