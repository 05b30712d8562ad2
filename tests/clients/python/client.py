"""Uses the server with the published `supabase`, and prints what the client has read as JSON."""

import json
import os

from supabase import ClientOptions, create_client
from supabase_auth.errors import AuthApiError

url, email, password = (os.environ[name] for name in ("CLIENT_URL", "CLIENT_EMAIL", "CLIENT_PASSWORD"))
options = ClientOptions(persist_session=False, auto_refresh_token=False)
client = create_client(url, os.environ["CLIENT_KEY"], options)
admin = create_client(url, os.environ["CLIENT_SERVICE_TOKEN"], options).auth.admin


def session_facts(session):
    return {
        "expires_at": session.expires_at,
        "access_token": session.access_token,
        "refresh_token": session.refresh_token,
        "email": session.user.email,
        "name": session.user.user_metadata.get("name"),
    }


def save_log(user_id):
    row = {"user_id": user_id, "date": os.environ["CLIENT_DATE"], "content": "<p>Shipped from Python</p>"}
    entries = client.table("entries")
    entries.insert(row).execute()
    entries.update({"content": "<p>Changed from Python</p>"}).eq("date", row["date"]).execute()
    entries.upsert(row, on_conflict="user_id,date").execute()
    read = client.table("entries").select("date, content_text", count="exact").or_(
        f"date.eq.{row['date']}, revision.gt.99"
    ).order("date", desc=True).limit(1).execute()
    client.table("entries").delete().eq("user_id", user_id).execute()
    left = client.table("entries").select("date").execute()
    return {"text": read.data[0]["content_text"], "count": read.count, "left": len(left.data)}


def administrate():
    created = admin.create_user(
        {"email": f"created-{email}", "password": password, "email_confirm": True, "user_metadata": {"team": "blue"}}
    ).user
    changed = admin.update_user_by_id(created.id, {"user_metadata": {"team": "red"}}).user
    link = admin.generate_link(
        {"type": "signup", "email": f"linked-{email}", "password": password, "options": {"data": {"name": "Lin"}}}
    )
    invited = admin.invite_user_by_email(f"invited-{email}", {"data": {"name": "Ina"}}).user
    listed = admin.list_users(page=1, per_page=100)
    redeemed = client_of_link(link.properties.hashed_token)
    admin.delete_user(created.id)
    return {
        "team": changed.user_metadata["team"],
        "read": admin.get_user_by_id(invited.id).user.email,
        "linked": link.user.user_metadata,
        "linked_at": link.user.confirmation_sent_at is not None,
        "verification_type": link.properties.verification_type,
        "invited": invited.user_metadata,
        "listed": sorted(user.email for user in listed if user.email.endswith(email)),
        "redeemed": redeemed.user.email,
    }


def client_of_link(token_hash):
    return create_client(url, os.environ["CLIENT_KEY"], options).auth.verify_otp(
        {"type": "signup", "token_hash": token_hash}
    )


def refusal(act):
    try:
        act()
    except AuthApiError as error:
        return {"code": error.code, "message": error.message, "status": error.status}
    return None


signed_up = client.auth.sign_up({"email": email, "password": password, "options": {"data": {"name": "Ada"}}})
# The client changes a session that it has handed out, so each is read at once.
facts = {"signed_up": session_facts(signed_up.session)}
facts["signed_in"] = session_facts(client.auth.sign_in_with_password({"email": email, "password": password}).session)
facts["refreshed"] = session_facts(client.auth.refresh_session().session)
client.auth.update_user({"data": {"name": "Grace"}})
facts["user"] = client.auth.get_user().user.user_metadata["name"]
facts["log"] = save_log(signed_up.user.id)
facts["refused"] = refusal(lambda: client.auth.sign_in_with_password({"email": email, "password": "wrong one"}))
facts["administration"] = administrate()
client.auth.sign_out()
facts["after_sign_out"] = client.auth.get_session() is None
print(json.dumps(facts))
