/** Navigation of the app for features and controls. `app/router.tsx` provides the location and the guard. */
import { useLocation, useSearch } from 'wouter';
import { useEffect } from 'react';

export type NavigateOptions = { replace?: boolean; state?: PageState | null };

/** The app keeps this in the state of a history entry, besides the position (`app/router.tsx`). */
export type PageState = {
  /** The page that redirected to the login, with its query: a PayPal return must survive the login. */
  from?: string;
};

/**
 * Opens a path of the app, with its query and hash. Resolves once the next screen is shown, or once the navigation has
 * ended because its code could not be loaded or the user has navigated elsewhere.
 */
export type Navigate = (to: string, options?: NavigateOptions) => Promise<void>;

export const useNavigate = (): Navigate => useLocation<() => [string, Navigate]>()[1];

/** A parameter of the shown page's query; undefined if it is not there. */
export const useSearchParam = (name: string): string | undefined =>
  new URLSearchParams(useSearch()).get(name) ?? undefined;

/** The state of the current history entry. The browser keeps it over a reload. */
export const pageState = (): PageState => (history.state as PageState | null) ?? {};

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Hustle Forge`;
  }, [title]);
}
