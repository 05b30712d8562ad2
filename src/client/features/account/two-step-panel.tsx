/** The panel of two-step verification: adds and removes second factors, and shows the recovery codes. */
import { useState } from 'react';
import { useUser } from '#client/lib/session/session.ts';
import { useToast } from '#client/ui/toast.tsx';
import type { PanelProps } from './account-section.tsx';
import { AddApp } from './add-app.tsx';
import { AddKey } from './add-key.tsx';
import { AddPhone } from './add-phone.tsx';
import { FactorList } from './factor-list.tsx';
import { NewCodes } from './new-codes.tsx';
import type { TwoStepView } from './two-step-view.ts';

export function TwoStepPanel({ setClosable }: PanelProps) {
  const toast = useToast();
  const factors = (useUser().factors ?? []).filter(({ status }) => status === 'verified');
  const [view, setView] = useState<TwoStepView>('list');
  const open = (next: TwoStepView): void => {
    setView(next);
    // New recovery codes are shown only once, so the panel cannot be closed while it shows them.
    setClosable(typeof next === 'string');
  };
  const add = {
    factors,
    onAdded(codes: readonly string[] | null) {
      const isFirstFactor = factors.length === 0;
      if (!codes) toast({ kind: 'success', text: 'Your sign-ins can now be confirmed this way too.' });
      open(codes ? { codes, isFirstFactor } : 'list');
    },
    onCancel: () => open('list'),
  };
  if (typeof view === 'object') return <NewCodes {...view} onDone={() => open('list')} />;
  switch (view) {
    case 'list':
      return <FactorList factors={factors} onOpen={open} />;
    case 'addApp':
      return <AddApp {...add} />;
    case 'addPhone':
      return <AddPhone {...add} />;
    case 'addKey':
      return <AddKey {...add} />;
  }
}
