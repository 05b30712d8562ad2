/** Shown while the email address is unconfirmed, after sign-up or sign-in: takes the code and sends the email again. */
import { ROUTES } from '#domain/routes.ts';
import { useAuth } from '#client/lib/api/use-auth.ts';
import { SentCodeForm } from '#client/ui/form/code-form.tsx';
import { Lead, SignInLayout } from './sign-in-layout.tsx';

export function CheckYourMail({ address }: { address: string }) {
  const auth = useAuth();

  return (
    <SignInLayout
      title="Check your email"
      lead={
        <>
          We sent an email to <strong>{address}</strong>. Open the link in it, or enter the code here.
        </>
      }
      footer={
        <>
          Wrong address? <a href={ROUTES.signup.path}>Start again</a>
        </>
      }
    >
      <SentCodeForm
        layout="page"
        // The user typed this address here, so no login CSRF is possible: store the session, and the guard redirects.
        check={(token) => auth.verifyOtp({ email: address, token, type: 'signup' })}
        send={() => auth.resend({ type: 'signup', email: address })}
        help={<p>No email? Check your spam folder, or send it again.</p>}
      />
      <Lead>
        Signed up before with another password? <a href={ROUTES.forgotPassword.path}>Reset your password</a>
      </Lead>
    </SignInLayout>
  );
}
