import { createStoredAuth } from './auth-client.ts';
import { useSupabase, type Auth } from './supabase.ts';

/** For screens that cannot do without auth-js: a module that imports this loads auth-js. */
export const useAuth = (): Auth => useSupabase().shareAuth(createStoredAuth);
