/** Catches what a screen throws while it renders, so that a fault never leaves an empty page. */
import { Component } from 'react';
import type { ReactNode } from 'react';
import { ErrorScreen } from './error-screen.tsx';

export class ErrorBoundary extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError() {
    return { broken: true };
  }

  override render() {
    return this.state.broken ? <ErrorScreen /> : this.props.children;
  }
}
