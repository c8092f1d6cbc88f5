"""Fills a history with invented small talk, so that what is looked for is a needle: same subjects, names and places."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from pathlib import Path

SESSION_EXCHANGES = 18
FIRST_DAY = datetime(2026, 1, 3, tzinfo=UTC)
DAYS = 140

LISTS = {
    "name": "Nadia|Owen|Ruth|Sam|Bea|Hakan|Greta|Luis|Lena|Priya|Jonas|Mateo|Karin|Camille|Diego|Anton|Carmen|Joel",
    "rel": "sister|brother|mother|father|cousin|aunt|uncle|grandmother|neighbour|boss|colleague|roommate|nephew|niece",
    "pet": "dog|cat|parrot|hamster|rabbit|turtle|canary|pony",
    "petname": "Biscuit|Shadow|Pepper|Olive|Figaro|Momo|Rusty|Pixel",
    "city": "Porto|Ghent|Oslo|Leeds|Turin|Seville|Krakow|Halifax|Bergen|Lyon|Bristol|Gdansk|Malmo|Trieste|Basel",
    "food": "lasagne|dumplings|curry|paella|pumpkin soup|apple pie|goulash|ramen|porridge|chestnut bread|lentil stew",
    "sport": "running|swimming|climbing|chess|yoga|tennis|rowing|cycling|bouldering|fencing|skating|badminton",
    "body": "knee|shoulder|wrist|back|ankle|elbow|hip|ear|tooth",
    "job": "nurse|baker|teacher|mechanic|chef|gardener|lawyer|printer|pilot|librarian|carpenter|pharmacist",
    "instrument": "piano|violin|drums|cello|trumpet|guitar|accordion|clarinet",
    "thing": "bike|camera|tent|mixer|sofa|phone|kettle|printer|washing machine|car|boat|coat|laptop",
    "month": "January|February|March|April|May|June|July|August|September|October|November|December",
    "day": "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday",
    "number": "three|four|five|six|seven|eight|nine|eleven|twelve|fourteen|twenty|thirty|ninety",
    "price": "40|65|90|120|240|380|600|950|1100",
    "color": "red|green|blue|yellow|purple|grey|orange",
    "book": "a crime novel|a cookbook|a biography|an atlas|a book about whales|a collection of letters|a thriller",
    "event": "wedding|concert|exam|birthday|interview|tournament|exhibition|graduation|moving day|festival",
}

SAID = (
    ("How was your weekend, {name}?", "I visited my {rel} in {city}, we ate {food} and talked until late."),
    ("Did you find a new {thing}?", "Yes, a {color} one for {price}, second hand, it even works."),
    ("My {pet} {petname} is ill again.", "Poor thing. Was it at the vet? Ours had trouble with the {body} last year."),
    ("When is the {event}?", "On the {number}th of {month}, at {number} in the evening, bring your {rel}."),
    ("I started {sport} again, every {day}.", "Good for you, I gave it up because of my {body}."),
    ("My {rel} wants to become a {job}.", "Brave! Mine was a {job} for {number} years and hated every {day}."),
    ("What are you cooking tonight?", "{food}, the recipe of my {rel} from {city}."),
    ("The {thing} broke in the middle of the night.", "Mine too, the repair cost {price}, I could have cried."),
    ("Have you read anything good?", "Just {book}, my {rel} lent it to me on {day}."),
    ("I hurt my {body} while {sport}.", "Ouch. Did the doctor say how many weeks you must rest?"),
    ("{name} is learning the {instrument} now.", "I can hear it through the wall, every {day} at {number}."),
    ("We may move to {city} in {month}.", "So far! Did your {rel} get a job as a {job} there?"),
    ("Are you coming to the {event} with {name}?", "I would love to, but my {rel} needs me on {day}."),
    ("The landlord raises the rent to {price}.", "Again? Look near the station, {number} flats are free."),
    ("I cannot eat {food} any more, it makes me sick.", "Then I make {food}, nobody should go hungry."),
    ("My {rel} gave me {book} for my birthday.", "How sweet. I got a {color} {thing} and a card from {city}."),
    ("How is {name} after the operation?", "Better, the {body} still hurts, but the {job} says it is normal."),
    ("I dreamed of {city} again.", "You should go in {month}, the trains are cheap and the {food} is excellent."),
    ("We lost the match by {number} points.", "Never mind, next time {name} plays and {name} stays on the bench."),
    ("The neighbours complained about the {instrument}.", "Tell them to try my {rel}, then they know what noise is."),
    ("Do you still have my {thing}?", "It is in the cellar, under the {color} {thing} of my {rel}."),
    ("Where do you want to go on holiday?", "{city}, for {number} days, with a tent and {book}."),
    ("I got the job as a {job}!", "Congratulations! When do you start? We must celebrate with {food}."),
    ("The doctor called because of the {body}.", "Do you need an operation, or {number} weeks without {sport}?"),
    ("It rained the whole {day}.", "Here too, {petname} the {pet} refused to go out."),
    ("{name} bought a {color} {thing} for {price}.", "I would never spend that much, but it is beautiful."),
)


def write_small_talk(root: Path, exchanges: int, *, cwd: str, seed: int = 7) -> None:
    """Write so many exchanges in sessions of eighteen; the same seed gives the same bytes."""
    rng = random.Random(seed)
    lists = {name: listed.split("|") for name, listed in LISTS.items()}

    def filled(text: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda match: rng.choice(lists[match[1]]), text)

    for number in range(exchanges // SESSION_EXCHANGES):
        now = FIRST_DAY + timedelta(days=rng.randrange(DAYS), hours=rng.randrange(24))
        builder = TranscriptBuilder(f"00000000-0000-4000-9000-{number:012d}", cwd=cwd, now=now)
        for _ in range(SESSION_EXCHANGES):
            said, answered = rng.choice(SAID)
            builder.prompt(filled(said))
            builder.answer(filled(answered))
        builder.write(root)
