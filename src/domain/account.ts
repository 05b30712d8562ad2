/** Rules for names, addresses and passwords. Each answers with the message to show, or null when all is well. */
export const PASSWORD_MIN_LENGTH = 6;
/** argon2 and every Supabase client agree on this upper bound, in UTF-8 bytes (wire-contract 0.7). */
export const PASSWORD_MAX_BYTES = 72;
export const EMAIL_MAX_LENGTH = 255;
/** The pattern of a required name: `required` alone is content with spaces. */
export const NAME_PATTERN = '.*\\S.*';

/** text @ text . text, without spaces (product.md 5). */
const SIMPLE_EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

export const emailProblem = (email: string): string | null =>
  SIMPLE_EMAIL.test(email.trim()) ? null : 'Please enter a valid email address';

type SignUpForm = { password: string; acceptsTerms: boolean };
export function signUpProblem(form: SignUpForm): string | null {
  if (!form.acceptsTerms) return 'You must accept the Terms of Service & Privacy Policy to create an account';
  if (form.password.length < PASSWORD_MIN_LENGTH) return 'Password must be at least 6 characters long';
  return null;
}

export function newPasswordProblem(password: string, confirmation: string): string | null {
  if (password !== confirmation) return 'Passwords do not match';
  if (password.length < PASSWORD_MIN_LENGTH) return 'Password must be at least 6 characters';
  return null;
}

type ProfileForm = { name: string; email: string; password: string; confirmation: string };
type ProfileNow = { name: string; email: string };
export function profileProblem(form: ProfileForm, now: ProfileNow): string | null {
  if (form.password !== '' || form.confirmation !== '') {
    if (form.password !== form.confirmation) return 'Passwords do not match';
    if (form.password.length < PASSWORD_MIN_LENGTH) return 'Password must be at least 6 characters long';
    return null;
  }
  const unchanged = form.name.trim() === now.name && form.email.trim() === now.email;
  return unchanged ? 'No changes to save' : null;
}
