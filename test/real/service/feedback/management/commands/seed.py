"""Create the tables and fill them: the same arguments make the same rows."""

import random
from datetime import datetime, timedelta, timezone

from django.core.management import BaseCommand, call_command
from django.db import connection
from rest_framework.authtoken.models import Token

from feedback.models import Board, Comment, Post, Status, User

BEGINNING = datetime(2025, 1, 1, tzinfo=timezone.utc)
YEAR = timedelta(days=365)
WORDS = """calendar invoices search offline keyboard shortcut tags webhook colour théâtre straße naïve
    żółw 東京 한국어 🚀 👩‍💻 "quoted" <i>markup</i> &amp; 100% a,b;c tab\\t slow please why""".split()


class Command(BaseCommand):
    def add_arguments(self, parser):
        parser.add_argument("--token", required=True)
        parser.add_argument("--posts", type=int, required=True)
        parser.add_argument("--comments", type=int, required=True)
        parser.add_argument("--same-date", type=int, default=0, help="so many posts share one created")

    def handle(self, token, posts, comments, same_date, **options):
        call_command("migrate", run_syncdb=True, verbosity=0)
        call_command("createcachetable")
        self.random = random.Random(posts * 31 + comments)
        self.people(token)
        Post.objects.bulk_create(self.posts(posts, same_date), batch_size=2000)
        self.made = list(Post.objects.all())
        Comment.objects.bulk_create(self.comments(comments), batch_size=2000)
        # The planner must not change its mind when autovacuum comes by.
        connection.cursor().execute("ANALYZE")

    def people(self, token):
        owner = User.objects.create(email="owner@example.com", name="The Owner", is_admin=True, is_team=True)
        Token.objects.create(user=owner, key=token)
        names = [("New", "#9e9e9e"), ("Planned", "#3f51b5"), ("In progress", "#ff9800"), ("Done", "#4caf50")]
        self.statuses = [Status.objects.create(name=name, color=color) for name, color in names]
        self.boards = [Board.objects.create(name=name.title(), slug=name) for name in ("features", "bugs", "app")]
        User.objects.bulk_create(
            User(email=f"person.{n}@example.com", name=f"Person {n}", alias="" if n % 3 else f"p{n}", registered=self.date(n, 300))
            for n in range(300)
        )
        self.users = list(User.objects.all())

    def posts(self, number, same_date):
        first = (number - same_date) // 2
        for n in range(number):
            is_same = first <= n < first + same_date
            yield Post(
                title=self.text(2, 10),
                content=self.text(0, 50),
                board=self.random.choice(self.boards),
                status=self.random.choice(self.statuses),
                creator=self.random.choice(self.users),
                votes_count=self.random.randrange(100),
                created=self.date(first if is_same else n, number),
            )

    def comments(self, number):
        for n in range(number):
            yield Comment(
                post=self.random.choice(self.made),
                creator=self.random.choice(self.users),
                content=self.text(1, 40),
                kind="reply" if n % 4 else "comment",
                status=None if n % 5 else self.random.choice(self.statuses),
                likes_count=self.random.randrange(10),
                highlighted=n % 50 == 0,
                internal=n % 9 == 0,
                created=self.date(n, number),
            )

    def date(self, n, number):
        return BEGINNING + YEAR * n / number

    def text(self, least, most):
        return " ".join(self.random.choices(WORDS, k=self.random.randint(least, most)))
