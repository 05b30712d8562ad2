/** /admin/sso/providers: the SAML identity providers (docs/specification/api.md 29 and 33). */
import type { AsService } from '#server/database/database.ts';
import { recordAuditEvent, type AuditEvent } from '../accounts/audit-log.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import {
  createSsoProvider,
  deleteSsoProvider,
  findSsoProvider,
  listSsoProviders,
  ssoProviderJson,
  updateSsoProvider,
  type SsoProvider,
  type SsoProviderChange,
} from '../saml/sso-providers.ts';

const toJson = (provider: SsoProvider) => ssoProviderJson(provider, { withMetadata: true });

export const listProviders: Endpoint = async (context, deps) => {
  const providers = await listSsoProviders(deps.database.asService('list SSO providers'));
  return context.json({ items: providers.map((provider) => ssoProviderJson(provider, { withMetadata: false })) });
};

export const createProvider: Endpoint<{ body: Body; device: Device }> = async (context, deps, { body, device }) => {
  if (body.text('type') !== 'saml') throw invalidRequest("Only 'saml' supported for SSO provider type");
  const { metadataXml, ...settings } = readSettings(body);
  if (metadataXml === undefined) throw invalidRequest('metadata_xml must be set');
  const provider = await changeProviders(deps, device, 'sso_provider_created', (transaction, home) =>
    createSsoProvider(transaction, { ...settings, metadataXml }, home),
  );
  return context.json(toJson(provider), 201);
};

type Given = { ids: { providerId: string }; device: Device };

export const showProvider: Endpoint<Given> = async (context, deps, { ids: { providerId: id } }) => {
  const provider = await findSsoProvider(deps.database.asService('read an SSO provider'), id);
  if (!provider) throw new AuthError('sso_identity_provider_not_found');
  return context.json(toJson(provider));
};

export const changeProvider: Endpoint<Given & { body: Body }> = async (context, deps, { ids, device, body }) => {
  const change = readSettings(body);
  const provider = await changeProviders(deps, device, 'sso_provider_changed', (transaction, home) =>
    updateSsoProvider(transaction, ids.providerId, change, home),
  );
  return context.json(toJson(provider));
};

export const deleteProvider: Endpoint<Given> = async (context, deps, { ids, device }) => {
  const provider = await changeProviders(deps, device, 'sso_provider_deleted', (transaction) =>
    deleteSsoProvider(transaction, ids.providerId),
  );
  return context.json(toJson(provider));
};

/**
 * Threat: server-side request forgery. The server would fetch `metadata_url` from within its own network. So the field
 * is not supported, and a request with it throws an AuthError.
 */
function readSettings(body: Body): SsoProviderChange {
  const metadataXml = body.text('metadata_xml');
  if (body.text('metadata_url') !== '')
    throw invalidRequest('metadata_url is not supported: send its content as metadata_xml');
  return {
    metadataXml: metadataXml === '' ? undefined : metadataXml,
    domains: body.texts('domains') ?? undefined,
    attributeMapping: body.object('attribute_mapping') ?? undefined,
    disabled: body.has('disabled') ? body.flag('disabled', false) : undefined,
  };
}

type Home = { publicUrl: string; now: Date };

/** Writes the change and its audit row in one transaction. */
function changeProviders(
  deps: AuthDeps,
  device: Device,
  event: AuditEvent,
  change: (transaction: AsService, home: Home) => Promise<SsoProvider | null>,
): Promise<SsoProvider> {
  const now = deps.clock.now();
  return deps.database.transactAsService('change the SSO providers', async (transaction) => {
    const provider = await change(transaction, { publicUrl: deps.config.publicUrl, now });
    if (!provider) throw new AuthError('sso_identity_provider_not_found');
    const details = { provider: provider.id, entity_id: provider.entity_id, disabled: provider.disabled };
    await recordAuditEvent(transaction, { at: now, userId: null, actor: 'service', event, device, details });
    return provider;
  });
}
