import type { AuthDeps } from '../http/auth-deps.ts';
import { AuthError } from '../http/errors.ts';
import type { SamlKey } from '../keys/saml-key.ts';

/** Throws `saml_provider_disabled` where the operator has set up no key. */
export function requireSaml({ samlKey }: Pick<AuthDeps, 'samlKey'>): SamlKey {
  if (samlKey === null) throw new AuthError(404, 'saml_provider_disabled', 'SAML 2.0 is disabled');
  return samlKey;
}
