"""The posts in SQLite in the manner of github-to-sqlite: a generator fetches, a function saves each row and whom it names.

    python3 bench/floors/github_manner.py BASE_URL TOKEN FILE [--pages]

With --pages a page at a time, which is how sqlite-utils is quickest.
"""
import json
import sys
import urllib.request

import sqlite_utils

NESTED = (("creator", "users"), ("board", "boards"), ("status", "statuses"))
FOREIGN_KEYS = [(column, table, "id") for column, table in NESTED]


def fetch_pages(base, token):
    url = base + "/api/v1/posts/"
    while url:
        request = urllib.request.Request(url, headers={"Authorization": "Bearer " + token})
        with urllib.request.urlopen(request) as response:
            page = json.load(response)
        yield page["results"]
        url = page["next"]


def save_row(db, post):
    for column, table in NESTED:
        post[column] = db[table].upsert(post[column], pk="id", alter=True).last_pk
    db["posts"].insert(post, pk="id", alter=True, replace=True, foreign_keys=FOREIGN_KEYS)


def save_page(db, posts):
    for column, table in NESTED:
        nested = {post[column]["id"]: post[column] for post in posts}
        db[table].upsert_all(nested.values(), pk="id", alter=True)
        for post in posts:
            post[column] = post[column]["id"]
    db["posts"].upsert_all(posts, pk="id", alter=True, foreign_keys=FOREIGN_KEYS)


base, token, file, *flags = sys.argv[1:]
database = sqlite_utils.Database(file)
for page in fetch_pages(base, token):
    if "--pages" in flags:
        save_page(database, page)
    else:
        for row in page:
            save_row(database, row)
