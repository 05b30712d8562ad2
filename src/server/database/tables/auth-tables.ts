export type { AuthenticationMethod, FactorType, JsonObject, OneTimePurpose, Tables as AuthTables } from '../tables.ts';
