from django.contrib.auth.models import AbstractBaseUser
from django.db import models
from django.utils.timezone import now


class User(AbstractBaseUser):
    USERNAME_FIELD = "email"

    email = models.EmailField(unique=True)
    name = models.CharField(max_length=150)
    alias = models.CharField(max_length=150, blank=True)
    registered = models.DateTimeField(default=now)
    is_admin = models.BooleanField(default=False)
    is_team = models.BooleanField(default=False)


class Board(models.Model):
    name = models.CharField(max_length=80)
    slug = models.SlugField(unique=True)

    @property
    def url(self):
        return f"/{self.slug}/"


class Status(models.Model):
    name = models.CharField(max_length=80)
    color = models.CharField(max_length=7)


class Post(models.Model):
    # No index on created: PostgreSQL sorts for every page, and rows with equal dates come in any order.
    title = models.CharField(max_length=250)
    content = models.TextField(blank=True)
    board = models.ForeignKey(Board, on_delete=models.CASCADE)
    status = models.ForeignKey(Status, on_delete=models.PROTECT)
    creator = models.ForeignKey(User, on_delete=models.CASCADE)
    votes_count = models.PositiveIntegerField(default=0)
    created = models.DateTimeField(default=now)

    @property
    def url(self):
        return f"{self.board.url}posts/{self.id}/"


class Comment(models.Model):
    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="comments")
    creator = models.ForeignKey(User, on_delete=models.CASCADE)
    content = models.TextField()
    kind = models.CharField(max_length=20, default="reply")
    status = models.ForeignKey(Status, on_delete=models.SET_NULL, null=True)
    likes_count = models.PositiveIntegerField(default=0)
    highlighted = models.BooleanField(default=False)
    internal = models.BooleanField(default=False)
    created = models.DateTimeField(default=now, db_index=True)
