/** Shows the error screen instead of an empty page when rendering throws. */
import { Component, type ReactNode } from 'react';
import { ErrorScreen } from './error-screen.tsx';

export class ErrorBoundary extends Component<{ children: ReactNode }, { hasError: boolean }> {
  override state = { hasError: false };

  static getDerivedStateFromError() {
    return { hasError: true };
  }

  override render() {
    return this.state.hasError ? <ErrorScreen /> : this.props.children;
  }
}
