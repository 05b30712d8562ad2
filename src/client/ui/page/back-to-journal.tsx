/** The way back to the journal, the same on every page beside it. */
import { Link } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import { ROUTES } from '#domain/routes.ts';

export function BackToJournal() {
  return (
    <Link to={ROUTES.journal.path}>
      <ArrowLeft size={18} strokeWidth={1.6} aria-hidden /> Back to Journal
    </Link>
  );
}
