"""The table of secrets: which shapes there are. Read by `redaction`; `secret_looks` tells what only looks like one.

The shapes are those that the vendors document and that gitleaks (MIT, config/gitleaks.toml) and detect-secrets
(Apache-2.0, plugins/) agree on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from engine.transcripts.secret_looks import (
    PLACEHOLDERS,
    UUID,
    has_digit_and_letter,
    is_basic,
    is_in_url,
    is_login_token,
    is_named_secret,
    is_named_token,
    is_password,
    is_random,
    is_strong,
    mixes_all,
    mixes_cases,
)

if TYPE_CHECKING:
    from collections.abc import Callable

RULES_VERSION: Final = 3
"""Grows with the table: what was indexed under an older one is looked at again."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One shape."""

    kind: str
    pattern: re.Pattern[str]
    """What is replaced: its group 1 when it has one, else all of it."""
    accept: Callable[[str], bool] | None = None
    """Looks at what would be replaced: False for what only looks like a secret."""
    prefixes: tuple[str, ...] = ()
    """First three characters of the run of letters and digits in every such secret, any of them."""
    anchors: tuple[str, ...] = ()
    """What stands in every text that holds such a secret, any of them; for shapes without a prefix."""
    lower: bool = False
    """Anchors and pattern are looked for in the text in lower case."""


# The table -----------------------------------------------------------------------------------------------------------

_START: Final = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"
_END: Final = r"(?![A-Za-z0-9_-])"
_ASSIGN: Final = r"""[a-z0-9_-]{0,30}\\?["'`]?\s{0,4}(?:=>|:=|[=:])\s{0,4}\\?["'`]?"""
_FLAG: Final = r"""[\s=]\\?["']?"""


_NAMED: Final = """~=|~:|~ =|~ :|~"|~'|~`|~\\\\"""
"""Anchors of a common word that is of interest only where something follows it that may give it a value."""


def _value(least: int) -> str:
    """Return the pattern of a value that is no call and no index: group 1."""
    return rf"""([^\s"'`,;<>(){{}}\[\]$\\]{{{least},200}})(?![\w(\[])"""


def _after(*words: str, last: str) -> str:
    """Return the pattern of a word that stands alone or behind one of some words (`key` in `api_key`, `apiKey`)."""
    alternatives = [f"(?<={word}{join}{last})" for word in words for join in ("", "[_-]")]
    return f"{last}(?:{'|'.join(alternatives)})"


def _by_prefix(
    kind: str, prefixes: str, pattern: str, accept: Callable[[str], bool] | None = None, *, loose: bool = False
) -> Rule:
    start = "" if loose else _START
    return Rule(kind, re.compile(f"{start}(?:{pattern})"), accept, prefixes=tuple(prefixes.split()))


def _by_anchor(
    kind: str, anchors: str, pattern: str, accept: Callable[[str], bool] | None = None, *, lower: bool = False
) -> Rule:
    return Rule(kind, re.compile(pattern), accept, anchors=tuple(anchors.split("|")), lower=lower)


_HEX: Final = "0123456789abcdef"
_TOKEN_WORDS: Final = ("access", "auth", "api", "bearer", "refresh", "bot", "deploy", "session")
_KEY_WORDS: Final = (
    "api", "access", "auth", "account", "encryption", "signing", "private", "service", "master", "app", "client",
    "license", "secret", "shared", "subscription",
)  # fmt: skip

RULES: Final = (
    _by_anchor(
        "private_key",
        "PRIVATE KEY",
        r"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:\s|\\[rn]|[A-Za-z0-9+/=]{16,}|[A-Za-z-]{3,20}: [^\n\\]{1,80}"
        r"|[A-Za-z0-9+/=]{1,15}(?=\s|\\[rn]|-----END|\Z))+"
        r"(?:-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----)?",
        lambda found: re.search(r"[A-Za-z0-9+/=]{16}", found) is not None,
    ),
    _by_anchor(
        "private_key",
        "PRIVATE KEY",
        r"(?:(?<=…\n)|\A)[A-Za-z0-9+/=\s]{16,}-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----",
    ),
    _by_prefix("age_key", "AGE", r"AGE-SECRET-KEY-1[0-9A-Z]{50,60}"),
    _by_prefix("anthropic", "sk-", r"sk-ant-[a-z0-9]{2,12}-[A-Za-z0-9_-]{20,}"),
    _by_prefix("openrouter", "sk-", r"sk-or-v1-[0-9a-f]{60,64}"),
    _by_prefix("openai", "sk-", r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}"),
    _by_prefix("openai", "sk-", rf"sk-[A-Za-z0-9]{{32,64}}{_END}", is_random),
    _by_prefix(
        "aws_access_key",
        "AKI ASI ABI ACC",
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])",
        has_digit_and_letter,
    ),
    _by_anchor(
        "aws_secret_key",
        "aws",
        r"""aws.{0,20}secret.{0,20}[=:"'\s]([a-z0-9/+]{40})(?![a-z0-9/+=])""",
        is_random,
        lower=True,
    ),
    _by_prefix("github", "ghp gho ghu ghs ghr", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    _by_prefix("github", "git", r"github_pat_[A-Za-z0-9_]{22,255}"),
    _by_prefix(
        "gitlab",
        "glp gld glr glc gls glf gli gla glo",
        r"gl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent|oas|ffct)-[A-Za-z0-9_=.-]{20,}",
    ),
    _by_prefix("slack", "xox", r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}", has_digit_and_letter),
    _by_prefix("slack", "xap", r"xapp-\d-[A-Za-z0-9-]{20,}"),
    _by_anchor(
        "slack_webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/+_-]{20,})",
    ),
    _by_anchor("discord_webhook", "api/webhooks/", r"api/webhooks/(\d{15,20}/[A-Za-z0-9_-]{50,})"),
    _by_anchor(
        "discord",
        "discord|bot ",
        rf"{_START}[mno][a-z0-9_-]{{23,27}}\.[a-z0-9_-]{{6}}\.[a-z0-9_-]{{27,38}}{_END}",
        lambda text: mixes_cases(text) and is_random(text),
        lower=True,
    ),
    _by_prefix("google_api_key", "AIz", rf"AIza[A-Za-z0-9_-]{{35}}{_END}"),
    _by_anchor("google_oauth", "ya29.", rf"{_START}ya29\.[A-Za-z0-9_-]{{20,}}"),
    _by_prefix("google_oauth", "GOC", r"GOCSPX-[A-Za-z0-9_-]{24,32}"),
    _by_prefix("stripe", "sk_ rk_ pk_", r"[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    _by_prefix("stripe", "whs", r"whsec_[A-Za-z0-9+/=]{24,}"),
    _by_prefix("twilio", " ".join(f"SK{each}" for each in _HEX), rf"SK[0-9a-f]{{32}}{_END}"),
    _by_anchor("sendgrid", "SG.", rf"{_START}SG\.[A-Za-z0-9_-]{{16,32}}\.[A-Za-z0-9_-]{{32,64}}"),
    _by_prefix("mailgun", "key", rf"key-[0-9a-f]{{32}}{_END}"),
    _by_anchor("mailchimp", "-us", rf"(?<![a-z0-9_-])[0-9a-f]{{32}}-us\d{{1,2}}{_END}", lower=True),
    _by_prefix("npm", "npm", rf"npm_[A-Za-z0-9]{{36}}{_END}"),
    _by_prefix("pypi", "pyp", r"pypi-[A-Za-z0-9_-]{50,}"),
    _by_prefix("rubygems", "rub", r"rubygems_[0-9a-f]{48}"),
    _by_prefix("docker", "dck", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    _by_prefix("huggingface", "hf_", rf"hf_[A-Za-z0-9]{{30,40}}{_END}", mixes_cases),
    _by_prefix("groq", "gsk", r"gsk_[A-Za-z0-9]{40,60}"),
    _by_prefix("xai", "xai", r"xai-[A-Za-z0-9]{60,90}"),
    _by_prefix("replicate", "r8_", rf"r8_[A-Za-z0-9]{{37}}{_END}"),
    _by_prefix("perplexity", "ppl", r"pplx-[A-Za-z0-9]{40,60}"),
    _by_prefix("digitalocean", "dop doo dor", r"do[opr]_v1_[0-9a-f]{64}"),
    _by_prefix("shopify", "shp", r"shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}"),
    _by_prefix("square", "sq0", r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,43}"),
    _by_anchor("telegram", ":AA", rf"{_START}\d{{8,10}}:AA[A-Za-z0-9_-]{{32,34}}{_END}"),
    _by_anchor("azure_storage", "Key=", r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,88}={0,2})"),
    _by_anchor("azure_client", "Q~", rf"{_START}[A-Za-z0-9_.~-]{{3}}\dQ~[A-Za-z0-9_.~-]{{31,34}}"),
    _by_prefix("atlassian", "ATA ATC", r"AT[AC]TT3[A-Za-z0-9_=-]{60,}"),
    _by_prefix("linear", "lin", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    _by_prefix("notion", "ntn", r"ntn_[A-Za-z0-9]{40,60}"),
    _by_prefix("notion", "sec", rf"secret_[A-Za-z0-9]{{43}}{_END}", is_random),
    _by_prefix("figma", "fig", r"figd_[A-Za-z0-9_-]{36,}"),
    _by_prefix("grafana", "gls glc", r"glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_eyJ[A-Za-z0-9+/=]{30,}"),
    _by_prefix("new_relic", "NRA NRJ NRI", r"NR(?:AK|JS|II)-[A-Za-z0-9_-]{19,32}"),
    _by_prefix("sentry", "snt", r"sntr(?:yu_[0-9a-f]{64}|ys_[A-Za-z0-9_+/=-]{50,})"),
    _by_anchor("doppler", "dp.", rf"{_START}dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{{40,64}}"),
    _by_anchor("vault", "hvs.|hvb.", rf"{_START}hv[sb]\.[A-Za-z0-9_-]{{24,}}"),
    _by_anchor("terraform", ".atlasv1.", rf"{_START}[A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{60,}}"),
    _by_prefix("heroku", "HRK", r"HRKU-[A-Za-z0-9_-]{36,64}"),
    _by_prefix("databricks", "dap", rf"dapi[0-9a-f]{{32}}(?:-\d)?{_END}"),
    _by_prefix("planetscale", "psc", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,64}"),
    _by_prefix("postman", "PMA", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _by_prefix("supabase", "sbp sb_", r"sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{28,48}"),
    _by_prefix("tailscale", "tsk", r"tskey-(?:auth|api|client|scim|webhook)-[A-Za-z0-9-]{16,}"),
    _by_prefix("netlify", "nfp nfo nfc", r"nf[poc]_[A-Za-z0-9]{36,}"),
    _by_prefix("circleci", "CCI", r"CCIPAT_[A-Za-z0-9]{20,}_[0-9a-f]{40}"),
    _by_prefix("buildkite", "bku", r"bkua_[0-9A-Za-z]{40,}"),
    _by_prefix("sonarqube", "sqp squ sqa", r"sq[pua]_[0-9a-f]{40}"),
    _by_prefix("fly", "fm1 fm2 fo1", r"f(?:m[12]|o1)_[A-Za-z0-9+/=_,-]{40,}"),
    _by_prefix("onepassword", "ops", r"ops_eyJ[A-Za-z0-9+/=_-]{100,}"),
    _by_anchor("firebase", ":APA91b", rf"{_START}AAAA[A-Za-z0-9_-]{{7}}:APA91b[A-Za-z0-9_-]{{120,}}"),
    _by_anchor("azure_sas", "sig=", r"[?&;]sig=([A-Za-z0-9%+/]{40,}={0,2})", has_digit_and_letter),
    _by_prefix("airtable", "pat", rf"pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}}{_END}"),
    _by_anchor("dropbox", "sl.", rf"{_START}sl\.(?:u\.)?[A-Za-z0-9_-]{{100,}}"),
    _by_prefix("facebook", "EAA", r"EAA[A-Za-z0-9]{100,}"),
    _by_prefix("pinecone", "pcs", r"pcsk_[A-Za-z0-9_]{50,}"),
    _by_prefix("nvidia", "nva", r"nvapi-[A-Za-z0-9_-]{60,}"),
    _by_prefix("langsmith", "lsv", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    _by_prefix("tavily", "tvl", r"tvly-[A-Za-z0-9-]{24,}", has_digit_and_letter),
    _by_prefix("posthog", "phx phs", r"ph[xs]_[A-Za-z0-9]{40,}"),
    _by_prefix("resend", "re_", rf"re_[A-Za-z0-9]{{8}}_[A-Za-z0-9]{{24}}{_END}", mixes_cases),
    _by_prefix("langfuse", "sk-", rf"sk-lf-[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}{_END}"),
    _by_prefix("cerebras", "csk", rf"csk-[a-zA-Z0-9]{{40,64}}{_END}", is_random),
    _by_prefix("elevenlabs", "sk_", rf"sk_[0-9a-f]{{48}}{_END}"),
    _by_prefix("fireworks", "fw_", rf"fw_[A-Za-z0-9]{{22,28}}{_END}", mixes_all),
    _by_prefix("firecrawl", "fc-", rf"fc-[0-9a-f]{{32}}{_END}"),
    _by_prefix("e2b", "e2b", rf"e2b_[0-9a-f]{{40}}{_END}"),
    _by_prefix("vercel", "ver", r"vercel_blob_rw_[A-Za-z0-9]{12,20}_[A-Za-z0-9]{24,40}"),
    _by_prefix("pulumi", "pul", rf"pul-[0-9a-f]{{40}}{_END}"),
    _by_prefix("brevo", "xke xsm", rf"x(?:keysib|smtpsib)-[0-9a-f]{{64}}-[A-Za-z0-9]{{16}}{_END}"),
    _by_anchor("mapbox", "sk.eyJ", rf"{_START}sk\.eyJ[A-Za-z0-9_-]{{40,}}\.[A-Za-z0-9_-]{{20,}}"),
    _by_anchor("dynatrace", "dt0", rf"{_START}dt0[a-z]\d\d\.[A-Z0-9]{{24}}\.[A-Z0-9]{{64}}"),
    _by_prefix("plaid", "acc", rf"access-(?:sandbox|development|production)-{UUID.pattern}{_END}"),
    _by_prefix("prefect", "pnu", rf"pnu_[A-Za-z0-9]{{36}}{_END}", has_digit_and_letter),
    _by_prefix("readme", "rdm", rf"rdme_[a-z0-9]{{70}}{_END}"),
    _by_prefix("typeform", "tfp", r"tfp_[A-Za-z0-9_=.-]{40,}", has_digit_and_letter),
    _by_prefix("contentful", "CFP", r"CFPAT-[A-Za-z0-9_-]{43}"),
    _by_prefix("alibaba", "LTA", rf"LTAI[A-Za-z0-9]{{16,24}}{_END}", mixes_all),
    _by_prefix("neon", "nap", rf"napi_[a-z0-9]{{60,70}}{_END}|napi_[A-Za-z0-9]{{60,70}}{_END}", has_digit_and_letter),
    _by_prefix("axiom", "xaa xap", rf"xa[ap]t-{UUID.pattern}{_END}"),
    _by_prefix("easypost", "EZA EZT", rf"EZ[AT]K[A-Za-z0-9]{{54}}{_END}"),
    _by_prefix("shippo", "shi", rf"shippo_(?:live|test)_[0-9a-fA-F]{{40}}{_END}"),
    _by_prefix("duffel", "duf", r"duffel_(?:live|test)_[A-Za-z0-9_=-]{40,}"),
    _by_prefix("voyage", "pa-", rf"pa-[A-Za-z0-9_-]{{43}}{_END}", mixes_all),
    _by_prefix("jina", "jin", rf"jina_[A-Za-z0-9]{{50,70}}{_END}", mixes_all),
    _by_prefix("adafruit", "aio", rf"aio_[A-Za-z0-9]{{28}}{_END}", mixes_all),
    _by_prefix("runpod", "rpa", rf"rpa_[A-Z0-9]{{40,50}}{_END}", has_digit_and_letter),
    _by_prefix("hubspot", "pat", rf"pat-(?:na|eu|ap)\d-{UUID.pattern}{_END}"),
    _by_prefix("figma", "fig", r"figu[_-][A-Za-z0-9_-]{36,}", mixes_all),
    _by_anchor("google_api_key", "AQ.Ab", rf"{_START}AQ\.Ab[A-Za-z0-9_-]{{40,}}"),
    _by_prefix("jwt", "eyJ", r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]{0,2048})?"),
    _by_anchor(
        "url_password",
        "://",
        r"""://[^\s/:@"'<>\[\]]{0,100}:([^\s/@"'<>\[\]]{1,200})@(?=[\w\[.-])""",
        is_in_url,
    ),
    _by_anchor("bearer", "bearer", r"bearer\s{1,4}([a-z0-9._~+/-]{16,}={0,2})", is_named_secret, lower=True),
    _by_anchor(
        "basic_auth",
        "authorization",
        r"""authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?:basic|token|bot)\s{1,4}([a-z0-9._~+/-]{12,}={0,2})""",
        lambda text: len(set(text)) > 7 and not PLACEHOLDERS.search(text),
        lower=True,
    ),
    _by_anchor(
        "basic_auth",
        "curl",
        r"""curl\b[^\n]{0,200}?\s(?:-u|--user)[\s=]{1,3}\\?["']?[^\s:"']{1,64}:([^\s"'\\]{4,128})""",
        is_in_url,
    ),
    _by_anchor(
        "basic_auth",
        '"auth"',
        r"""\\?"auth\\?"\s{0,4}:\s{0,4}\\?"([A-Za-z0-9+/]{12,400}={0,2})\\?\"""",
        is_basic,
    ),
    _by_anchor(
        "password",
        "mysql",
        rf"""mysql(?:dump|admin)?\b[^\n]{{0,120}}?\s-p\\?["']?{_value(6)}""",
        is_password,
        lower=True,
    ),
    _by_anchor(
        "password",
        "docker login|podman login",
        rf"""(?:docker|podman)\slogin\b[^\n]{{0,120}}?\s-p[\s=]\\?["']?{_value(6)}""",
        is_password,
        lower=True,
    ),
    _by_anchor(
        "password",
        "password",
        rf"login\s{{1,4}}[^\s]{{1,64}}\s{{1,4}}password\s{{1,4}}{_value(6)}",
        is_password,
        lower=True,
    ),
    _by_anchor(
        "password",
        "identified by",
        r"""identified\sby\s{1,4}\\?['"]([^\s'"\\]{6,128})\\?['"]""",
        is_password,
        lower=True,
    ),
    _by_anchor(
        "password",
        "redis-cli",
        rf"""redis-cli\b[^\n]{{0,120}}?\s-a\s{{1,3}}\\?["']?{_value(6)}""",
        is_password,
        lower=True,
    ),
    _by_anchor(
        "password",
        "mongo",
        rf"""mongo(?:sh|dump|restore|export|import)?\b[^\n]{{0,120}}?\s-p\s{{1,3}}\\?["']?{_value(6)}""",
        is_password,
        lower=True,
    ),
    _by_anchor(
        "password",
        "password-stdin",
        rf"""echo\s{{1,3}}(?:-n\s{{1,3}})?\\?["']?{_value(8)}\\?["']?\s{{0,3}}\|[^\n|]{{0,120}}\slogin\b[^\n|]{{0,120}}"""
        "password-stdin",
        is_password,
        lower=True,
    ),
    _by_anchor("password", "-pass", rf"-pass(?:in|out)?\s{{1,3}}\\?[\"']?pass:{_value(4)}", is_in_url, lower=True),
    _by_anchor("password", "password::|passwd::", r"passw(?:or)?d::\s{1,2}([a-z0-9+/]{12,}={0,2})", lower=True),
    _by_anchor("password", "$2a$|$2b$|$2y$", r"(\$2[aby]\$\d\d\$[./A-Za-z0-9]{53})"),
    _by_anchor("password", "$argon2", r"(\$argon2(?:id|i|d)\$[^\s\"'\\]{40,300})"),
    _by_anchor("password", "$6$|$5$", r"(\$[56]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{4,16}\$[./A-Za-z0-9]{43,86})"),
    _by_anchor("password", "sshpass", r"""sshpass\s{1,3}-p\s{0,3}["']?([^\s"']{4,128})""", is_in_url),
    _by_anchor("password", "passw", rf"passw(?:or)?d{_ASSIGN}{_value(6)}", is_password, lower=True),
    _by_anchor("password", "passw", rf"<passw(?:or)?d>{_value(6)}", is_password, lower=True),
    _by_anchor(
        "password",
        _NAMED.replace("~", "pass"),
        rf"""(?<=[a-z0-9][_-])pass\\?["'`]?\s?[=:]\s{{0,2}}\\?["'`]?{_value(8)}""",
        lambda text: mixes_all(text) and is_password(text),
        lower=True,
    ),
    _by_anchor(
        "password",
        _NAMED.replace("~", "pass"),
        rf"""(?<![a-z0-9_.-])pass(?:=|\\?["']\s{{0,2}}:(?=\s{{0,2}}\\?["']))\s{{0,2}}\\?["'`]?{_value(8)}""",
        is_strong,
        lower=True,
    ),
    _by_anchor("password", "passphrase", rf"passphrase{_ASSIGN}{_value(6)}", is_password, lower=True),
    _by_anchor("password", "--passw", rf"--passw(?:or)?d{_FLAG}{_value(6)}", is_password, lower=True),
    _by_anchor("password", "pwd=", rf"(?:(?<=[;\s\"'])|\A)pwd={_value(6)}", is_password, lower=True),
    _by_anchor(
        "token",
        "token",
        "token(?:(?<![a-z]token)|"  # a word of its own, or the end of `accessToken`
        + "|".join(f"(?<={each}token)" for each in _TOKEN_WORDS)
        + rf")(?![a-z]){_ASSIGN}{_value(16)}",
        is_named_token,
        lower=True,
    ),
    _by_anchor(
        "token",
        _NAMED.replace("~", "login") + "|login>",
        rf"""(?<![a-z])login(?:\\?["'`]?\s?(?:=>|:=|[=:])\s{{0,4}}\\?["'`]?|>){_value(20)}""",
        is_login_token,
        lower=True,
    ),
    _by_anchor(
        "token",
        _NAMED.replace("~", "credentials") + "|" + _NAMED.replace("~", "credential"),
        rf"""credentials?\\?["'`]?\s?[=:]\s{{0,4}}\\?["'`]?{_value(24)}""",
        lambda text: mixes_all(text) and is_named_token(text),
        lower=True,
    ),
    _by_anchor(
        "token",
        "cookie",
        r"""cookie\b[^\n]{0,300}?(?<![a-z])(?:session|session[_-]?id|sessid|phpsessid|jsessionid|connect\.sid|sid|auth)=([a-z0-9%._~+/-]{20,}={0,2})""",
        is_named_token,
        lower=True,
    ),
    _by_anchor("token", "token ", rf"--(?:[a-z]{{1,20}}-)?token{_FLAG}{_value(16)}", is_named_token, lower=True),
    _by_anchor("secret", "secret", rf"secret(?![a-z]){_ASSIGN}{_value(16)}", is_named_secret, lower=True),
    _by_anchor(
        "api_key",
        "key",
        _after(*_KEY_WORDS, last="key")
        + rf"(?![a-z]){_ASSIGN}{_value(16)}",
        is_named_secret,
        lower=True,
    ),
    _by_anchor(
        "api_key", "-key ", rf"--(?:api|access|secret|auth)-key{_FLAG}{_value(16)}", is_named_secret, lower=True
    ),
)  # fmt: skip
"""Vendors' shapes before names: `api_key = "sk-ant-…"` is of the vendor's kind."""

KINDS: Final = tuple(sorted({rule.kind for rule in RULES} | {"cut"}))
"""Every kind there is, for the documentation."""
