/** Navigation of the app for features and controls. `app/router.tsx` provides the location and the guard. */
import { createContext, createElement, use, useEffect, type ComponentProps } from 'react';

export type NavigateOptions = { replace?: boolean; state?: PageState | null };

/** The app keeps this in the state of a history entry, besides the entry's position (`app/router.tsx`). */
export type PageState = {
  /** The page that redirected to the login, with its query: a PayPal return must survive the login. */
  from?: string;
};

/**
 * Opens a path of the app, with its query and hash. Resolves once the next screen is shown, or once the navigation has
 * ended because its code could not be loaded or the user has navigated elsewhere.
 */
export type Navigate = (to: string, options?: NavigateOptions) => Promise<void>;

/** The page that the app shows. */
type Location = { path: string; search: string; navigate: Navigate };

export const LocationContext = createContext<Location | null>(null);

function useLocation(): Location {
  const location = use(LocationContext);
  if (!location) throw new Error('useLocation needs a LocationContext above it');
  return location;
}

export const useNavigate = (): Navigate => useLocation().navigate;

export const useSearchParams = (): URLSearchParams => new URLSearchParams(useLocation().search);

/** Undefined if the URL lacks the parameter. */
export const useSearchParam = (name: string): string | undefined => useSearchParams().get(name) ?? undefined;

type LinkProps = Omit<ComponentProps<'a'>, 'href'> & { to: string; state?: PageState | null };

/** Opens a path of the app. Leaves a click with a modifier key or another button to the browser. */
export function Link({ to, state = null, onClick, ...props }: LinkProps) {
  const navigate = useNavigate();
  return createElement('a', {
    ...props,
    href: to,
    onClick(event) {
      if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.button !== 0) return;
      onClick?.(event);
      if (event.defaultPrevented) return;
      event.preventDefault();
      void navigate(to, { state });
    },
  } satisfies ComponentProps<'a'>);
}

/** The state of the current history entry. The browser keeps it over a reload. */
export const pageState = (): PageState => (history.state as PageState | null) ?? {};

/**
 * Focuses the heading of a new screen, so that screen readers announce it. Leaves the focus where the screen has put
 * it, such as on the first field of a form.
 */
export function focusHeading(): void {
  const isFocusSet = document.activeElement !== null && document.activeElement !== document.body;
  if (!isFocusSet) document.querySelector<HTMLElement>('h1[tabindex="-1"]')?.focus();
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Hustle Forge`;
  }, [title]);
}
