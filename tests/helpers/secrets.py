"""Makes secrets of every known shape, and what only looks like one. Made at run time, so that no scanner flags this
repository: no prefix stands here beside its random part.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import string
import uuid

LETTERS = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
BASE32 = string.ascii_uppercase + "234567"
URL_SAFE = LETTERS + "-_"


class Maker:
    """A seeded source of random text."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def text(self, alphabet: str, length: int) -> str:
        """Return random characters with at least one digit and letter of each case the alphabet has."""
        while True:
            made = "".join(self.chance.choice(alphabet) for _ in range(length))
            kinds = (str.isdigit, str.islower, str.isupper)
            if all(any(map(kind, made)) for kind in kinds if any(map(kind, alphabet))) or length < 4:
                return made

    def base64(self, size: int) -> str:
        """Return random bytes in base64."""
        return base64.b64encode(self.chance.randbytes(size)).decode()


def secrets(seed: int) -> list[tuple[str, str, str]]:  # noqa: PLR0915 - a table, one line for each shape
    """Return (kind, text, the part that must be gone) for every kind."""
    m = Maker(seed)
    made: list[tuple[str, str, str]] = []

    def add(kind: str, secret: str, around: str = "{}") -> None:
        made.append((kind, around.format(secret), secret))

    add("anthropic", "sk-" + "ant-api03-" + m.text(URL_SAFE, 95), "ANTHROPIC_API_KEY={}")
    add("openai", "sk-" + "proj-" + m.text(URL_SAFE, 74), 'client = OpenAI(api_key="{}")')
    add("openai", "sk-" + m.text(LETTERS, 48), "the key is {} ok?")
    add("openrouter", "sk-" + "or-v1-" + m.text(HEX, 64), "curl -H 'x: {}'")
    add("aws_access_key", "AK" + "IA" + m.text(BASE32, 16), "aws_access_key_id = {}")
    add("aws_secret_key", m.text(LETTERS + "/+", 40), "aws_secret_access_key = {}")
    add("aws_secret_key", m.text(LETTERS + "/+", 40), 'AWS_SECRET_ACCESS_KEY="{}"')
    add("github", "gh" + "p_" + m.text(LETTERS, 36), "git clone https://{}@github.com/a/b")
    add("github", "gh" + "s_" + m.text(LETTERS, 36), "GITHUB_TOKEN: {}")
    add("github", "github" + "_pat_" + m.text(LETTERS, 22) + "_" + m.text(LETTERS, 59))
    add("gitlab", "gl" + "pat-" + m.text(URL_SAFE, 20), "--header 'PRIVATE-TOKEN: {}'")
    add("slack", "xo" + "xb-" + m.text(string.digits, 12) + "-" + m.text(LETTERS, 24), "SLACK={}\n")
    add("slack", "xa" + "pp-1-" + m.text(UPPER, 11) + "-" + m.text(string.digits, 13) + "-" + m.text(HEX, 64))
    add(
        "slack_webhook",
        f"T{m.text(UPPER, 9)}/B{m.text(UPPER, 9)}/{m.text(LETTERS, 24)}",
        "https://hooks.slack.com/services/{}",
    )
    add(
        "discord_webhook", m.text(string.digits, 18) + "/" + m.text(URL_SAFE, 68), "https://discord.com/api/webhooks/{}"
    )
    add(
        "discord",
        "MT" + m.text(LETTERS, 22) + "." + m.text(LETTERS, 6) + "." + m.text(URL_SAFE, 27) + "x",
        "DISCORD_TOKEN: {}",
    )
    add("google_api_key", "AI" + "za" + m.text(URL_SAFE, 34) + "x", "?key={}&q=1")
    add("google_oauth", "ya" + "29." + m.text(URL_SAFE, 60))
    add("google_oauth", "GO" + "CSPX-" + m.text(URL_SAFE, 28))
    add("stripe", "sk" + "_live_" + m.text(LETTERS, 24), "STRIPE={}")
    add("stripe", "rk" + "_test_" + m.text(LETTERS, 24))
    add("stripe", "wh" + "sec_" + m.text(LETTERS, 32))
    add("twilio", "S" + "K" + m.text(HEX, 32), "TWILIO_KEY={}")
    add("sendgrid", "S" + "G." + m.text(URL_SAFE, 22) + "." + m.text(URL_SAFE, 43))
    add("mailgun", "key" + "-" + m.text(HEX, 32), "api:{}")
    add("mailchimp", m.text(HEX, 32) + "-us" + "12", "MAILCHIMP: {}")
    add("npm", "np" + "m_" + m.text(LETTERS, 36), "//npm.acme.dev/:_authToken={}")
    add("pypi", "py" + "pi-AgEIcHlwaS5vcmc" + m.text(URL_SAFE, 150), "TWINE_PASSWORD={}")
    add("rubygems", "ruby" + "gems_" + m.text(HEX, 48))
    add("docker", "dc" + "kr_pat_" + m.text(URL_SAFE, 27))
    add("huggingface", "h" + "f_" + m.text(LETTERS, 34), "login(token='{}')")
    add("groq", "gs" + "k_" + m.text(LETTERS, 52))
    add("xai", "xa" + "i-" + m.text(LETTERS, 80))
    add("replicate", "r" + "8_" + m.text(LETTERS, 37))
    add("perplexity", "pp" + "lx-" + m.text(LETTERS, 48))
    add("digitalocean", "do" + "p_v1_" + m.text(HEX, 64))
    add("shopify", "shp" + "at_" + m.text(HEX, 32))
    add("square", "sq" + "0csp-" + m.text(URL_SAFE, 43))
    add(
        "telegram", m.text(string.digits, 10) + ":" + "AA" + m.text(URL_SAFE, 32) + "x", "bot{} ".replace("bot", "BOT=")
    )
    add(
        "azure_storage",
        m.base64(64),
        "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={};EndpointSuffix=core",
    )
    add("azure_client", m.text(LETTERS, 3) + "8" + "Q~" + m.text(LETTERS, 34))
    add("atlassian", "AT" + "ATT3xFfGF0" + m.text(URL_SAFE, 180) + "=" + m.text(UPPER, 8))
    add("linear", "lin" + "_api_" + m.text(LETTERS, 40))
    add("notion", "nt" + "n_" + m.text(LETTERS, 46))
    add("figma", "fi" + "gd_" + m.text(URL_SAFE, 40))
    add("grafana", "gl" + "sa_" + m.text(LETTERS, 32) + "_" + m.text(HEX, 8))
    add("new_relic", "NR" + "AK-" + m.text(UPPER, 27))
    add("sentry", "sn" + "tryu_" + m.text(HEX, 64))
    add("doppler", "d" + "p.pt." + m.text(LETTERS, 43))
    add("vault", "hv" + "s." + m.text(URL_SAFE, 90))
    add("terraform", m.text(LETTERS, 14) + ".atlas" + "v1." + m.text(URL_SAFE, 67))
    add("heroku", "HR" + "KU-AA" + m.text(URL_SAFE, 58))
    add("databricks", "da" + "pi" + m.text(HEX, 32))
    add("planetscale", "psc" + "ale_tkn_" + m.text(LETTERS, 43))
    add("postman", "PM" + "AK-" + m.text(HEX, 24) + "-" + m.text(HEX, 34))
    add("supabase", "sb" + "p_" + m.text(HEX, 40))
    add("tailscale", "ts" + "key-auth-" + m.text(LETTERS, 12) + "-" + m.text(LETTERS, 32))
    add("age_key", "AGE-SECRET-" + "KEY-1" + m.text(UPPER, 58))
    token = ".".join("ey" + "J" + m.text(URL_SAFE, 40) for _ in range(2)) + "." + m.text(URL_SAFE, 43)
    add("jwt", token, "Cookie: session={}; path=/")
    add("bearer", m.text(LETTERS, 40), "-H 'Authorization: Bearer {}'")
    add("netlify", "nf" + "p_" + m.text(LETTERS, 36))
    add("circleci", "CCI" + "PAT_" + m.text(LETTERS, 22) + "_" + m.text(HEX, 40))
    add("buildkite", "bk" + "ua_" + m.text(HEX, 40), "BUILDKITE {}")
    add("sonarqube", "sq" + "p_" + m.text(HEX, 40), "-Dsonar.login={}")
    add("fly", "fm" + "2_" + m.text(LETTERS + "+/", 200), 'FLY="FlyV1 {}"')
    add("onepassword", "ops" + "_eyJ" + m.text(LETTERS, 250))
    add("firebase", "AAA" + "A" + m.text(LETTERS, 7) + ":APA" + "91b" + m.text(URL_SAFE, 134))
    add("azure_sas", m.text(LETTERS, 43) + "%3D", "https://acme.blob.core.windows.net/c?sv=2022-11-02&sig={}&se=2026")
    add("airtable", "pa" + "t" + m.text(LETTERS, 14) + "." + m.text(HEX, 64))
    add("dropbox", "s" + "l.u." + m.text(URL_SAFE, 135))
    add("facebook", "EA" + "AC" + m.text(LETTERS, 150))
    add("pinecone", "pc" + "sk_" + m.text(LETTERS, 65))
    add("nvidia", "nv" + "api-" + m.text(URL_SAFE, 64))
    add("langsmith", "ls" + "v2_pt_" + m.text(HEX, 32) + "_" + m.text(HEX, 10))
    add("tavily", "tv" + "ly-dev-" + m.text(LETTERS, 32))
    add("posthog", "ph" + "x_" + m.text(LETTERS, 43))
    add("resend", "re" + "_" + m.text(LETTERS, 8) + "_" + m.text(LETTERS, 24))
    add(
        "basic_auth",
        base64.b64encode(b"ci:" + m.text(LETTERS, 16).encode()).decode(),
        '{{"auths": {{"x": {{"auth": "{}"}}}}}}',
    )
    add("password", "Quince!" + m.text(LETTERS, 6), "mysql -h db -u root -p{} shop")
    add("password", "Quince!" + m.text(LETTERS, 6), "docker login -u me -p {} ghcr.io")
    add("password", m.text(LETTERS, 12), "machine git.acme.dev login me password {}")
    add("password", m.text(LETTERS, 12), "CREATE USER 'app'@'%' IDENTIFIED BY '{}';")
    add(
        "basic_auth",
        base64.b64encode(b"deploy:" + m.text(LETTERS, 14).encode()).decode(),
        '"Authorization": "Basic {}"',
    )
    add("basic_auth", m.text(LETTERS, 12), "curl -s -u deploy:{} https://ci.acme.dev/api")
    add("url_password", m.text(LETTERS, 16), "postgres://app:{}@db.acme.dev:5432/shop")
    add("url_password", m.text(LETTERS, 20), "mongodb+srv://root:{}@cluster0.mongodb.net/?w=1")
    add("url_password", m.text(LETTERS, 18), "REDIS_URL=redis://:{}@10.0.0.8:6379/0")
    add("password", m.text(LETTERS + "!#", 14), "DB_PASSWORD={}")
    add("password", m.text(LETTERS, 12) + "!", '"password": "{}"')
    add("password", m.text(LETTERS, 12) + "!", '\\"password\\": \\"{}\\"')
    add("password", m.text(LETTERS, 13), "mysql --host db --password {} shop")
    add("password", m.text(LETTERS, 13), "Server=db;Uid=sa;Pwd={};Encrypt=yes")
    add("password", m.text(LETTERS, 13), "sshpass -p '{}' ssh host")
    add("token", m.text(LETTERS, 32), "access_token: {}")
    add("token", m.text(HEX, 40), "export API_TOKEN={}")
    add("token", m.text(LETTERS, 32), 'const authToken = "{}";')
    add("secret", m.text(LETTERS, 32), 'client_secret = "{}"')
    add("secret", m.text(HEX, 64), "SECRET_KEY_BASE={}")
    add("api_key", m.text(LETTERS, 32), "X-Api-Key: {}")
    add("api_key", m.text(HEX, 32), '{{"apiKey":"{}"}}')
    add("api_key", str(uuid.UUID(int=m.chance.getrandbits(128), version=4)), "HEROKU_API_KEY={}")
    made += _newer(m)
    for name in ("RSA ", "OPENSSH ", "EC ", ""):
        body = m.base64(600)
        folded = "\n".join(body[start : start + 64] for start in range(0, len(body), 64))
        pem = f"-----BEGIN {name}PRIVATE " + f"KEY-----\n{folded}\n-----END {name}PRIVATE KEY-----"
        add("private_key", pem, "cat id\n{}\nthen")
        made.append(("private_key", json.dumps({"key": pem}), json.dumps(folded)[1:-1]))
    return made


def _newer(m: Maker) -> list[tuple[str, str, str]]:  # noqa: PLR0915 - a table, one line for each shape
    """Return what vendors of 2024 to 2026 give out, and secrets that are told by the name before them."""
    made: list[tuple[str, str, str]] = []

    def add(kind: str, secret: str, around: str = "{}") -> None:
        made.append((kind, around.format(secret), secret))

    def some_uuid() -> str:
        return str(uuid.UUID(int=m.chance.getrandbits(128), version=4))

    add("anthropic", "sk-" + "ant-admin01-" + m.text(URL_SAFE, 93), "x-api-key: {}")
    add("anthropic", "sk-" + "ant-oat01-" + m.text(URL_SAFE, 93), "CLAUDE_CODE_OAUTH_TOKEN={}")
    add("openai", "sk-" + "svcacct-" + m.text(URL_SAFE, 70), "OPENAI_API_KEY: {}")
    add("openai", "sk-" + m.text(HEX, 32), "DEEPSEEK_API_KEY={}")
    add("langfuse", "sk-" + "lf-" + some_uuid(), "LANGFUSE={}")
    add("cerebras", "cs" + "k-" + m.text(LETTERS, 48), "use {} for it")
    add("elevenlabs", "sk" + "_" + m.text(HEX, 48), "ELEVEN={}")
    add("fireworks", "fw" + "_" + m.text(LETTERS, 24), "curl -H 'x: {}'")
    add("firecrawl", "fc" + "-" + m.text(HEX, 32), "Firecrawl({})")
    add("e2b", "e2" + "b_" + m.text(HEX, 40), "E2B={}")
    add("vercel", "vercel" + "_blob_rw_" + m.text(LETTERS, 16) + "_" + m.text(LETTERS, 30), 'READ_WRITE="{}"')
    add("pulumi", "pu" + "l-" + m.text(HEX, 40), "pulumi login with {}")
    add("brevo", "xkey" + "sib-" + m.text(HEX, 64) + "-" + m.text(LETTERS, 16))
    add("mapbox", "sk." + "eyJ1" + m.text(LETTERS, 60) + "." + m.text(LETTERS, 22), "mapboxgl = {}")
    add("dynatrace", "dt0" + "c01." + m.text(UPPER, 24) + "." + m.text(UPPER, 64))
    add("plaid", "access" + "-production-" + some_uuid())
    add("prefect", "pn" + "u_" + m.text(LETTERS, 36))
    add("readme", "rd" + "me_" + m.text(HEX, 70))
    add("typeform", "tf" + "p_" + m.text(LETTERS, 44))
    add("contentful", "CF" + "PAT-" + m.text(URL_SAFE, 43))
    add("alibaba", "LT" + "AI5t" + m.text(LETTERS, 18), "id = {}")
    add("neon", "na" + "pi_" + m.text(LETTERS.lower(), 64), "neonctl {}")
    add("axiom", "xa" + "at-" + some_uuid())
    add("easypost", "EZ" + "AK" + m.text(LETTERS, 54))
    add("shippo", "shippo" + "_live_" + m.text(HEX, 40))
    add("duffel", "duffel" + "_live_" + m.text(URL_SAFE, 43))
    add("voyage", "pa" + "-" + m.text(LETTERS, 43), "voyage: {}")
    add("jina", "ji" + "na_" + m.text(LETTERS, 60))
    add("adafruit", "ai" + "o_" + m.text(LETTERS, 28), "mqtt {}")
    add("runpod", "rp" + "a_" + m.text(UPPER, 43))
    add("hubspot", "pa" + "t-na1-" + some_uuid())
    add("figma", "fi" + "gu_" + m.text(LETTERS, 40))
    add("google_api_key", "A" + "Q.Ab8" + m.text(URL_SAFE, 48), "GEMINI={}")
    add("token", m.text(HEX, 40), "sonar.login={}")
    add("token", m.text(HEX, 40), "mvn sonar:sonar -Dsonar.login={}")
    add("token", m.text(HEX, 40), "sonar:\n  login: {}")
    add("token", m.text(HEX, 40), '{{"sonar": {{"login": "{}"}}}}')
    add("token", m.text(HEX, 40), "SONAR_LOGIN={}")
    add("token", m.text(HEX, 40), "<login>{}</login>")
    add("token", m.text(LETTERS, 32), "login: '{}'")
    add("token", m.text(HEX, 40), "sonar.token={}")
    add("token", m.text(LETTERS, 32), "credentials: {}")
    add("token", m.text(LETTERS, 32), "Cookie: theme=dark; sessionid={}; path=/")
    add("secret", m.text(LETTERS, 32), "jwt.secret={}")
    add("secret", m.text(HEX, 32), '"secret": "{}"')
    add("secret", m.base64(32), "NEXTAUTH_SECRET={}")
    add("api_key", m.text(HEX, 32), "Ocp-Apim-Subscription-Key: {}")
    add("api_key", m.base64(32), "PresharedKey = {}")
    add("password", m.text(LETTERS, 14), "DB_PASS={}")
    add("password", m.text(LETTERS, 16), 'SMTP_PASS="{}"')
    add("password", "q7" + m.text(LETTERS, 12) + "4z", '"pass": "{}"')
    add("password", m.text(LETTERS, 14), "spring.datasource.password={}")
    add("password", m.text(LETTERS, 14), "nexusPassword={}")
    add("password", m.text(LETTERS, 14), "<password>{}</password>")
    add("password", m.base64(15), "userPassword:: {}")
    add("password", m.text(LETTERS, 16), "redis-cli -h cache -a {} ping")
    add("password", m.text(LETTERS, 16), "mongosh -u admin -p {} --quiet")
    add("password", m.text(LETTERS, 20), "echo '{}' | docker login ghcr.io -u me --password-stdin")
    add("password", m.text(LETTERS, 16), "openssl rsa -in k.pem -passin pass:{}")
    add("password", "$2" + "y$10$" + m.text(LETTERS + "./", 53), "dana:{}")
    add("password", "$argon" + "2id$v=19$m=65536,t=3,p=4$" + m.text(LETTERS, 22) + "$" + m.text(LETTERS, 43), "hash {}")
    add("password", "$" + "6$" + m.text(LETTERS, 16) + "$" + m.text(LETTERS + "./", 86), "root:{}:19000:0:99999:7:::")
    return made


def harmless(seed: int) -> list[str]:
    """Return texts that hold nothing secret, however much they look like it."""
    m = Maker(seed)
    made: list[str] = []
    for number in range(12):
        sha = hashlib.sha1(str(seed + number).encode(), usedforsecurity=False).hexdigest()
        sha256 = hashlib.sha256(str(seed + number).encode()).hexdigest()
        name = str(uuid.UUID(int=m.chance.getrandbits(128), version=4))
        made += [
            f"commit {sha}\nAuthor: Dana",
            f"[main {sha[:7]}] Move the token parser",
            f"index {sha[:10]}..{sha[10:20]} 100644",
            f"sha256:{sha256}  app.tar.gz",
            f'"integrity": "sha512-{m.base64(64)}"',
            f"--hash=sha256:{sha256}",
            f"session {name} resumed",
            f"data:image/png;base64,{m.base64(300)}",
            f'"sessionId":"{name}","uuid":"{name}"',
            f'"requestId":"req_011{m.text(LETTERS, 21)}"',
            f'"id":"msg_01{m.text(LETTERS, 22)}","type":"message"',
            f'"tool_use_id":"toolu_01{m.text(LETTERS, 22)}"',
            f"https://acme.dev/p/{sha[:12]}?page=2&sort=-created_at",
            f"arn:aws:iam::{m.text(string.digits, 12)}:role/deploy-{number}",
            f"/home/dev/.cache/pip/wheels/{sha[:2]}/{sha[2:4]}/{sha256}",
            f"docker.io/library/python@sha256:{sha256}",
            f'ETag: "{sha[:32]}"',
            f"trace_id={sha[:32]} span_id={sha[:16]}",
            f'"login": "dana-{number}", "node_id": "MDQ6VXNlcj{m.text(LETTERS, 14)}"',
            f"login: {name}",
            f"Cookie: sessionid={name}",
            f"cookie consent for page {sha}",
            f"pa-{number}-review-of-the-order-process-in-the-shop-of-acme",
            f"access-log-{sha[:12]}, fc-cache-{number}, csk-list, patch-na1-{number}",
        ]
    made += [
        "password: string;",
        "the login page password field, and the login form password input;",
        "mysql -p -h db shop; mysql --port 3306; docker login -u me --password-stdin",
        "CREATE USER app IDENTIFIED BY 'password'; identified by the team",
        '"auth": "bearer_or_basic", "auth": "required1234"',
        "https://acme.dev/c?design=aB3dE5gH7jK9mN1pQ3sT5vX7zB9dF1hJ3lN5pR7t",
        "re_render_the_component_after_load, ops_eyJ, patience, EAAT",
        "password=password",
        "def check(password: str) -> bool:",
        "password = get_password(user)",
        "password = self.config.password",
        'os.environ["DB_PASSWORD"]',
        "process.env.STRIPE_SECRET_KEY",
        "PASSWORD=${DB_PASSWORD}",
        "token = request.headers.get('Authorization')",
        "max_tokens: 20000",
        "input_tokens=12345678, output_tokens=87654321",
        "tokenizer: bert-base-uncased-v2",
        "the secret is to write small functions",
        "secretKeyRef:\n  name: app-secrets\n  key: token",
        "postgres://postgres:postgres@localhost:5432/test",
        "https://user:password@host/path",
        "http://localhost:8080/a@b",
        "https://npm.acme.dev/@types/node",
        "git@github.com:acme/shop.git",
        "ssh://git@github.com/acme/shop.git",
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        "Bearer authentication is described in RFC 6750",
        "-H 'Authorization: Bearer YOUR_API_KEY_HERE'",
        "api_key = 'your-api-key-here'",
        "API_KEY=xxxxxxxxxxxxxxxxxxxx",
        "AKIAIOSFODNN7 is how an access key begins",
        "sk-ant-... is what Anthropic's keys look like",
        "a key beginning with ghp_ belongs to GitHub",
        "-----BEGIN CERTIFICATE-----",
        "look for BEGIN RSA PRIVATE KEY in it",
        "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIK0wmN/Cr3JXqmLW7u+g9pTh+wyqDHpSQEIQczXkVx9q dev@host",
        "pytest-of-root/pytest-168/test_excluded_projects_are_not0",
        "skip-to-content-link-in-the-header-of-the-page",
        "npm_config_registry",
        "npm_lifecycle_event_postinstall_of_package",
        "hf_hub_download(repo_id='a/b')",
        "glob-parent-and-other-packages-of-node",
        "key-value-store-with-an-append-only-log",
        "sq0 is Square's prefix",
        "secret_santa_2024_participants_list.csv",
        "xoxb is the prefix of a bot's token",
        "eyJ is how base64 of JSON begins",
        "nextPageToken: 'CAUQAA'",
        "pageToken=abc123",
        "cancelToken = axios.CancelToken.source()",
        "csrf_token() }}",
        "primary_key = 'customer_order_line_2024'",
        "foreign_key: orders_customer_id_fkey_1",
        "key: checkout-cart-v2-2024",
        "cache_key = f'{user.id}:{version}'",
        "keyboard_shortcut: ctrl+shift+alt+delete",
        "access_key_id: ${{ secrets.KEY }}",
        "auth_token: null",
        "secret: false",
        "apiKey: import.meta.env.VITE_API_KEY",
        "token_type: access_token_refreshed_2",
        "SELECT password_hash FROM users WHERE id = 1",
        "passwd: all authentication tokens updated successfully",
        "PWD=/home/dev/projects/shop2",
        "pwd=$(pwd)",
        'curl -u "$USER:$PASS" https://acme.dev',
        'sshpass -p "$PASS" ssh a',
        "mongodb://<user>:<password>@host/db",
        "amqp://guest:guest@localhost:5672",
        "https://api.acme.dev/v1/tokens/rotate",
        "Enter password: ",
        "password (8 characters, 1 digit): ",
        "redis://:${REDIS_PASSWORD}@cache:6379/0",
        "http://[::1]:8080/a:b@c",
        "import { useToken } from './hooks/useToken2'",
        "lastLogin: 2026-01-02T03:04:05.123Z",
        "last_login=2026-03-01T10:11:12+00:00",
        "login: dana.example-7@acme.dev",
        "login: https://auth.acme.dev/u/a1b2c3d4e5f60718",
        "loginUrl=https://a.dev/oauth2/v2.0/authorize",
        '"login": "octocat-bot-2024-release-team"',
        "login_attempts: 12345678",
        "login: useLogin2Form.handleSubmit1",
        '"login":"dependabot[bot]","id":49699333',
        "loginSuccessful = await loginAsUser2(page)",
        "<login>dana</login><password>changeme</password>",
        '<input type="password">Password1</input>',
        "--- PASS: TestToken123456789abcd (0.00s)",
        "PASS tests/unit/testA2.py::test_b3",
        "pass: true, passes: 3, bypass: a1b2c3d4e5f6a7B8",
        "pass=3 fail=2; first_pass: result_2024_q1_final",
        "first_pass=renderPass2, second_pass: shadow_map_v2",
        '"pass": "second-pass-2"',
        "credentials: include",
        "credentials: 'same-origin', mode: 'cors'",
        "Cookie: theme=dark; lang=en; session=none",
        "redis-cli -a $PASS; redis-cli -h cache -p 6379",
        "mongosh -p 27017 --host db",
        "echo $TOKEN | docker login ghcr.io -u me --password-stdin",
        "openssl rsa -in k.pem -passin pass:$PASS",
        "bcrypt's hashes begin with $2b$, argon2's with $argon2id$",
        "awk '{print $5$6}' file",
        "sk_learn_pipeline_v2_final_2024, fw_update_2024_final_version",
        "napi_create_function_utf8_with_length, napi_get_value_string",
        "jina_embeddings_v3_small_2024_release_candidate_of_the_model_card",
        "key_press_handler_v2_for_all, shippo_live_labels, duffel_live_offers",
        "axios-retry, xaat-, EZAK, rpa_automation_of_the_whole_process",
        "vercel_blob_rw_token_is_read_from_the_environment",
        "the subscription key of the plan, a shared key to the flat",
        "subscriptionKey: process.env.SPEECH_KEY",
        "private_key_path: ~/.ssh/id_ed25519_2",
    ]
    return made
