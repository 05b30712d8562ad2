/**
 * The frames of the pages: the markup that depends neither on the user nor on data, rendered at build time into the
 * app's page. The server sends the frame of the route, which shows until React has rendered the screen in the same
 * place. The forms take keys (lib/boot/early-form.ts). Nothing works yet in the other frames, so screen readers do not
 * see them.
 */
import ArrowLeft from 'lucide-react/icons/arrow-left';
import { createElement, type ReactNode } from 'react';
import { ROUTES, type RouteName } from '#domain/routes.ts';
import { JournalFrame } from '#client/features/journal/early/journal-frame.tsx';
import { SignInLayout } from '#client/features/sign-in/sign-in-layout.tsx';
import { ImportFrame } from '#client/features/settings/import/import-card.tsx';
import { PAGE_FRAME_ID } from '#client/lib/boot/early-form.ts';
import { LoginFields, SignupFields } from '#client/features/sign-in/account-fields.tsx';
import { Form, SubmitButton } from '#client/ui/form/form.tsx';
import { Page } from '#client/ui/page/page.tsx';

export function PageFrames() {
  return (
    <>
      <FormFrame of="login">
        <SignInLayout title="Sign in">
          <Form layout="page" noValidate>
            <LoginFields forgot={<a href={ROUTES.forgotPassword.path}>Forgot your password?</a>} />
            <SubmitButton layout="page">Sign in</SubmitButton>
          </Form>
        </SignInLayout>
      </FormFrame>
      <FormFrame of="signup">
        <Of section="signups">
          <SignInLayout title="Create your account">
            <Form layout="page" noValidate>
              <SignupFields />
              <SubmitButton layout="page">Create account</SubmitButton>
            </Form>
          </SignInLayout>
        </Of>
      </FormFrame>
      <Frame of="reviews">
        <Page title="Hustle Reviews" back={<Back />}>
          {null}
        </Page>
      </Frame>
      <Frame of="settings">
        <Page title="Settings" back={<Back />}>
          <ImportFrame />
        </Page>
      </Frame>
      <Frame of="profile">
        <Page title="Profile" back={<Back />}>
          {null}
        </Page>
      </Frame>
      <Of section="journal">
        <template id="journal-frame">
          <JournalFrame />
        </template>
      </Of>
    </>
  );
}

/** Markup that only some pages, or some servers, have (scripts/vite/pages.ts, src/server/http/pages.ts). */
const Of = ({ section, children }: { section: string; children: ReactNode }) =>
  createElement('hf-when', { name: section }, children);

const Frame = ({ of, children }: { of: RouteName; children: ReactNode }) => (
  <Of section={of}>
    <div id={PAGE_FRAME_ID} aria-hidden="true" inert>
      {children}
    </div>
  </Of>
);

const FormFrame = ({ of, children }: { of: RouteName; children: ReactNode }) => (
  <Of section={of}>
    <div id={PAGE_FRAME_ID}>{children}</div>
  </Of>
);

/** Looks like BackToJournal, whose link needs the router. */
const Back = () => (
  <a href={ROUTES.journal.path}>
    <ArrowLeft size={18} strokeWidth={1.6} aria-hidden /> Back to Journal
  </a>
);
