/** The link back to the journal on the reviews, settings and profile screens. */
import { Link } from 'wouter';
import { ArrowLeft } from 'lucide-react';
import { ROUTES } from '#domain/routes.ts';

export function BackToJournal() {
  return (
    <Link to={ROUTES.journal.path}>
      <ArrowLeft size={18} strokeWidth={1.6} aria-hidden /> Back to Journal
    </Link>
  );
}
