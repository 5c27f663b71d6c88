"""The posts in SQLite in the manner of github-to-sqlite: a generator fetches, a function saves what it is given.

    python3 bench/floors/github_manner.py BASE_URL TOKEN FILE

github-to-sqlite itself saves row by row, each in a transaction of its own; this saves a page at a time, which is how
sqlite-utils is quickest.
"""
import json
import sys
import urllib.request

import sqlite_utils


def fetch_posts(base, token):
    url = base + "/api/v1/posts/"
    while url:
        request = urllib.request.Request(url, headers={"Authorization": "Bearer " + token})
        with urllib.request.urlopen(request) as response:
            page = json.load(response)
        yield page["results"]
        url = page["next"]


def save_posts(db, pages):
    for posts in pages:
        for column, table in (("creator", "users"), ("board", "boards"), ("status", "statuses")):
            nested = {post[column]["id"]: post[column] for post in posts}
            db[table].upsert_all(nested.values(), pk="id", alter=True)
            for post in posts:
                post[column] = post[column]["id"]
        db["posts"].upsert_all(
            posts,
            pk="id",
            alter=True,
            foreign_keys=[("creator", "users", "id"), ("board", "boards", "id"), ("status", "statuses", "id")],
        )


base, token, file = sys.argv[1:]
save_posts(sqlite_utils.Database(file), fetch_posts(base, token))
