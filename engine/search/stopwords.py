"""Words that say how a question is asked and not what about: left out where one word is enough to match.

A history of programming is full of English commands and short of "why" and "which", so these would weigh most of all.
Seven languages of the people who write to Claude Code; a word is left out only while others remain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.core.text import fold

if TYPE_CHECKING:
    from collections.abc import Iterable

ENGLISH = """a about after again all also am an and any are as at be because been before being between both but by can
could did do does doing done for from had has have having he her here hers him his how i if in into is it its just me
more most my no nor not now of off on once only or other our out over own same she should so some such than that the
their them then there these they this those through to too under until up us very was we were what when where which
while who whom why will with would you your yours don't doesn't didn't isn't wasn't can't won't i'm it's that's what's
let's"""
GERMAN = """aber alle als also am an auch auf aus bei bin bis bist da damit das dass dem den der des dich die dies diese
dieser dieses dir doch du durch ein eine einem einen einer eines er es für hab habe haben hat hatte ich ihr im in ist ja
kann kannst können man mein mich mir mit nach nicht noch nur ob oder ohne sein seine sich sie sind so um und uns unser
vom von vor war waren warum was weil wenn wer wie wieso wir wird wo wurde wurden zu zum zur über"""
FRENCH = """au aux avec ce ces cette comment dans de des du elle en est et eu il ils je la le les leur lui ma mais me
mes moi mon ne nos notre nous on ou où par pas pour pourquoi qu que quel quelle quelles quels qui sa se ses si son sont
sur ta te tes toi ton tu un une vos votre vous été être a à"""
SPANISH = """a al algo como cómo con cual cuál cuando cuándo de del desde donde dónde el ella ellos en era es esa ese
eso esta está este esto fue ha hay la las le les lo los me mi mis más muy no nos o para pero por porque qué que quien
quién se ser si sin sobre son su sus también te tu un una unas unos y ya yo"""
PORTUGUESE = """ao aos as com como da das de do dos e ela ele em entre era essa esse esta este eu foi há isso isto já
mais mas me meu minha muito na nas no nos não nós o os ou para pela pelo por porque quando que quem se sem ser seu sua
são também te um uma você é à"""
ITALIAN = """a al alla alle anche che chi ci come con cosa cui da dal dalla dei del della delle di dove e era essere gli
ha hanno ho i il in io la le lo loro ma mi mio nel nella non noi o per perché più quale quando quanto quella quello
questa questo se si sono su sua suo tra tu un una uno è"""
DUTCH = """aan al als bij dan dat de der deze die dit doen door dus een en er ge had heb hebben heeft het hij hoe hun ik
in is je kan maar me meer men met mij mijn na naar niet nog nu of om onder ons ook op over te tegen toch toen tot u uit
van veel voor waar waarom want waren was wat we wel werd wie wij wil worden zal ze zich zij zijn zo zou"""

LANGUAGES = tuple(
    frozenset(fold(listed.replace("'", " ")).split())
    for listed in (ENGLISH, GERMAN, FRENCH, SPANISH, PORTUGUESE, ITALIAN, DUTCH)
)


def stop_words_for(words: Iterable[str]) -> frozenset[str]:
    """Return the stop words of the language that a question seems to be in; English where it cannot be told.

    Only one language's at a time: `die` says nothing in German and everything in "why did the worker die".
    """
    asked = tuple(words)
    return max(LANGUAGES, key=lambda language: sum(word in language for word in asked))
