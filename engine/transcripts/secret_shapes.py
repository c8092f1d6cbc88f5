"""The table of secrets: which shapes there are, and what only looks like one. Read by `redaction`.

The shapes are those that the vendors document and that gitleaks (MIT, config/gitleaks.toml) and detect-secrets
(Apache-2.0, plugins/) agree on.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

RULES_VERSION: Final = 2
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


# What only looks like a secret -------------------------------------------------------------------------------------

_PLACEHOLDERS: Final = re.compile(
    r"example|placeholder|your[_-]|[_-]here|change[_-]?me|dummy|sample|redacted|\*{3}|\.{3}|x{4}|0{8}|1234567890|abcdef",
    re.IGNORECASE,
)
_PLAIN_PASSWORDS: Final = frozenset(
    {
        "pass", "passwd", "password", "pw", "pwd", "secret", "token", "user", "username", "root", "admin", "guest",
        "test", "postgres", "mysql", "redis", "rabbitmq", "key", "apikey", "x-oauth-basic", "oauth2",
    }
)  # fmt: skip
"""What manuals write where a password goes."""

_WORDS: Final = re.compile(r"(?:[A-Za-z]+\d{0,3}|\d{1,4})(?:[-_.:/@](?:[A-Za-z]+\d{0,3}|\d{1,4}))*")
"""Names made of words and small numbers: `bert-base-uncased-v2`, `tokens.page_2`."""

_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def _has_digit_and_letter(text: str) -> bool:
    return any(each.isdigit() for each in text) and any(each.isalpha() for each in text)


def _is_random(text: str) -> bool:
    """True for what nobody would type: digits and letters mixed, and not one character again and again."""
    return _has_digit_and_letter(text) and len(set(text)) > 7 and not _PLACEHOLDERS.search(text)


def _is_named_secret(text: str) -> bool:
    """True for the value of something called a key, a token or a secret that looks like one."""
    return len(text) >= 16 and _is_random(text) and not _WORDS.fullmatch(text) and not text.startswith(("/", "./", "~"))


def _is_named_token(text: str) -> bool:
    return _is_named_secret(text) and not _UUID.fullmatch(text)


def _is_password(text: str) -> bool:
    """True for the value of something called a password that looks like one: no name of a variable, no placeholder."""
    if text.lower() in _PLAIN_PASSWORDS or _PLACEHOLDERS.search(text) or text.startswith(("/", "./", "~", "$", "%")):
        return False
    kinds = (
        any(each.islower() for each in text),
        any(each.isupper() for each in text),
        any(each.isdigit() for each in text),
        any(not each.isalnum() and each not in "_-." for each in text),
    )
    return sum(kinds) >= 2 and (kinds[2] or kinds[3]) and len(set(text)) > 4


def _is_in_url(text: str) -> bool:
    return text.lower() not in _PLAIN_PASSWORDS and not re.match(r"[${<%*\[]|x{3,}", text, re.IGNORECASE)


def _is_basic(text: str) -> bool:
    """True for a user and a password, joined by a colon and written in base64."""
    try:
        return b":" in base64.b64decode(text, validate=True)
    except binascii.Error:
        return False


# The table -----------------------------------------------------------------------------------------------------------

_START: Final = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"
_END: Final = r"(?![A-Za-z0-9_-])"
_ASSIGN: Final = r"""[a-z0-9_-]{0,30}\\?["'`]?\s{0,4}(?:=>|:=|[=:])\s{0,4}\\?["'`]?"""
_FLAG: Final = r"""[\s=]\\?["']?"""


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


def _mixes_cases(text: str) -> bool:
    return text != text.lower()


_HEX: Final = "0123456789abcdef"
_TOKEN_WORDS: Final = ("access", "auth", "api", "bearer", "refresh", "bot", "deploy", "session")
_KEY_WORDS: Final = (
    "api", "access", "auth", "account", "encryption", "signing", "private", "service", "master", "app", "client",
    "license", "secret",
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
    _by_prefix("openai", "sk-", rf"sk-[A-Za-z0-9]{{32,64}}{_END}", _is_random),
    _by_prefix(
        "aws_access_key",
        "AKI ASI ABI ACC",
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])",
        _has_digit_and_letter,
    ),
    _by_anchor(
        "aws_secret_key",
        "aws",
        r"""aws.{0,20}secret.{0,20}[=:"'\s]([a-z0-9/+]{40})(?![a-z0-9/+=])""",
        _is_random,
        lower=True,
    ),
    _by_prefix("github", "ghp gho ghu ghs ghr", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    _by_prefix("github", "git", r"github_pat_[A-Za-z0-9_]{22,255}"),
    _by_prefix(
        "gitlab",
        "glp gld glr glc gls glf gli gla glo",
        r"gl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent|oas|ffct)-[A-Za-z0-9_=.-]{20,}",
    ),
    _by_prefix("slack", "xox", r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}", _has_digit_and_letter),
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
        lambda text: _mixes_cases(text) and _is_random(text),
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
    _by_prefix("huggingface", "hf_", rf"hf_[A-Za-z0-9]{{30,40}}{_END}", _mixes_cases),
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
    _by_prefix("notion", "sec", rf"secret_[A-Za-z0-9]{{43}}{_END}", _is_random),
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
    _by_anchor("azure_sas", "sig=", r"[?&;]sig=([A-Za-z0-9%+/]{40,}={0,2})", _has_digit_and_letter),
    _by_prefix("airtable", "pat", rf"pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}}{_END}"),
    _by_anchor("dropbox", "sl.", rf"{_START}sl\.(?:u\.)?[A-Za-z0-9_-]{{100,}}"),
    _by_prefix("facebook", "EAA", r"EAA[A-Za-z0-9]{100,}"),
    _by_prefix("pinecone", "pcs", r"pcsk_[A-Za-z0-9_]{50,}"),
    _by_prefix("nvidia", "nva", r"nvapi-[A-Za-z0-9_-]{60,}"),
    _by_prefix("langsmith", "lsv", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    _by_prefix("tavily", "tvl", r"tvly-[A-Za-z0-9-]{24,}", _has_digit_and_letter),
    _by_prefix("posthog", "phx phs", r"ph[xs]_[A-Za-z0-9]{40,}"),
    _by_prefix("resend", "re_", rf"re_[A-Za-z0-9]{{8}}_[A-Za-z0-9]{{24}}{_END}", _mixes_cases),
    _by_prefix("jwt", "eyJ", r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]{0,2048})?"),
    _by_anchor(
        "url_password",
        "://",
        r"""://[^\s/:@"'<>\[\]]{0,100}:([^\s/@"'<>\[\]]{1,200})@(?=[\w\[.-])""",
        _is_in_url,
    ),
    _by_anchor("bearer", "bearer", r"bearer\s{1,4}([a-z0-9._~+/-]{16,}={0,2})", _is_named_secret, lower=True),
    _by_anchor(
        "basic_auth",
        "authorization",
        r"""authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?:basic|token|bot)\s{1,4}([a-z0-9._~+/-]{12,}={0,2})""",
        lambda text: len(set(text)) > 7 and not _PLACEHOLDERS.search(text),
        lower=True,
    ),
    _by_anchor(
        "basic_auth",
        "curl",
        r"""curl\b[^\n]{0,200}?\s(?:-u|--user)[\s=]{1,3}\\?["']?[^\s:"']{1,64}:([^\s"'\\]{4,128})""",
        _is_in_url,
    ),
    _by_anchor(
        "basic_auth",
        '"auth"',
        r"""\\?"auth\\?"\s{0,4}:\s{0,4}\\?"([A-Za-z0-9+/]{12,400}={0,2})\\?\"""",
        _is_basic,
    ),
    _by_anchor(
        "password",
        "mysql",
        rf"""mysql(?:dump|admin)?\b[^\n]{{0,120}}?\s-p\\?["']?{_value(6)}""",
        _is_password,
        lower=True,
    ),
    _by_anchor(
        "password",
        "docker login|podman login",
        rf"""(?:docker|podman)\slogin\b[^\n]{{0,120}}?\s-p[\s=]\\?["']?{_value(6)}""",
        _is_password,
        lower=True,
    ),
    _by_anchor(
        "password",
        "password",
        rf"login\s{{1,4}}[^\s]{{1,64}}\s{{1,4}}password\s{{1,4}}{_value(6)}",
        _is_password,
        lower=True,
    ),
    _by_anchor(
        "password",
        "identified by",
        r"""identified\sby\s{1,4}\\?['"]([^\s'"\\]{6,128})\\?['"]""",
        _is_password,
        lower=True,
    ),
    _by_anchor("password", "sshpass", r"""sshpass\s{1,3}-p\s{0,3}["']?([^\s"']{4,128})""", _is_in_url),
    _by_anchor("password", "passw", rf"passw(?:or)?d{_ASSIGN}{_value(6)}", _is_password, lower=True),
    _by_anchor("password", "passphrase", rf"passphrase{_ASSIGN}{_value(6)}", _is_password, lower=True),
    _by_anchor("password", "--passw", rf"--passw(?:or)?d{_FLAG}{_value(6)}", _is_password, lower=True),
    _by_anchor("password", "pwd=", rf"(?:(?<=[;\s\"'])|\A)pwd={_value(6)}", _is_password, lower=True),
    _by_anchor(
        "token",
        "token",
        "token(?:(?<![a-z]token)|"  # a word of its own, or the end of `accessToken`
        + "|".join(f"(?<={each}token)" for each in _TOKEN_WORDS)
        + rf")(?![a-z]){_ASSIGN}{_value(16)}",
        _is_named_token,
        lower=True,
    ),
    _by_anchor("token", "token ", rf"--(?:[a-z]{{1,20}}-)?token{_FLAG}{_value(16)}", _is_named_token, lower=True),
    _by_anchor("secret", "secret", rf"secret(?![a-z]){_ASSIGN}{_value(16)}", _is_named_secret, lower=True),
    _by_anchor(
        "api_key",
        "key",
        _after(*_KEY_WORDS, last="key")
        + rf"(?![a-z]){_ASSIGN}{_value(16)}",
        _is_named_secret,
        lower=True,
    ),
    _by_anchor(
        "api_key", "-key ", rf"--(?:api|access|secret|auth)-key{_FLAG}{_value(16)}", _is_named_secret, lower=True
    ),
)  # fmt: skip
"""Vendors' shapes before names: `api_key = "sk-ant-…"` is of the vendor's kind."""

KINDS: Final = tuple(sorted({rule.kind for rule in RULES} | {"cut"}))
"""Every kind there is, for the documentation."""
